"""Jobs whose units are computed one after the other: what a kind does that Ray has nothing to add to."""

import time

from node.jobs.work import Work
from swarm_chain.reference.programs.sandboxed import compute_unit, first_content


def run_units(work: Work) -> None:
    """Computes what is lacking of a job, each content on disk before the next unit begins.

    Args:
        work: the job; what its folder holds already is kept, as far as it hangs together.

    Raises:
        InvalidInputError: the customer's work fails.
    """
    program, folder = work.program, work.folder
    inputs = {content: work.inputs(content) for content in work.spec.input_hashes}
    if folder.kept(0) is None:
        folder.keep(0, first_content(work.spec, inputs))
    for unit in range(program.units):
        if folder.kept(unit + 1) is not None:
            continue
        source = folder.kept(program.source(unit))
        if source is None:  # spoiled on disk after what follows it was made: begin with it again
            run_units(work)
            return
        started = time.monotonic_ns()
        content = compute_unit(work.spec, inputs, unit, source)
        folder.keep(unit + 1, content)
        folder.add_time((time.monotonic_ns() - started) // 1_000_000)
        folder.say(f"unit {unit + 1} of {program.units}")
