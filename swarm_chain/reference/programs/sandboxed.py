"""Units of programs, computed where they may be: a spec's own code runs in a sandbox only, ours in this process.

compute_unit, first_content     what nodes and judges call for any program
compute_sandboxed               the same in a sandbox whatever the spec; a fresh one per unit, so that no unit can tell
                                which were computed before it, and judges get the same bytes from it alone
"""

import json
from collections.abc import Callable, Mapping

from swarm_chain.core.encoding import canonical_json, hash_from_hex, to_hex
from swarm_chain.core.jobs import JobSpec, parse_job_spec
from swarm_chain.core.units import Hash32
from swarm_chain.reference.programs.base import Program, inputs_of
from swarm_chain.reference.programs.registry import open_program
from swarm_chain.sandbox.limits import UNIT_SECONDS, SandboxLimits
from swarm_chain.sandbox.run import run_sandboxed

Blobs = Mapping[Hash32, bytes]


def unit_limits(spec: JobSpec, seconds: int = UNIT_SECONDS) -> SandboxLimits:
    """What one unit of a job may use.

    Args:
        spec: the job; one worker's resources count.
        seconds: wall clock.
    """
    own = spec.resources
    return SandboxLimits.of(own.memory_mb, own.disk_mb, own.cpus, own.gpus, seconds)


def compute_unit(spec: JobSpec, inputs: Blobs, unit: int, source: bytes, limits: SandboxLimits | None = None) -> bytes:
    """Content `unit` + 1 of a job; the one way to compute a unit.

    Args:
        spec: the job.
        inputs: bytes of all its inputs by content hash.
        unit: number of the unit, from 0.
        source: content it is computed from.
        limits: of the customer's code; None: those of the spec.

    Raises:
        InvalidInputError: spec or source are not what they should be, or the customer's code fails (customer_code).
        UnavailableError: this machine is of another kind than the one that made the source, or cannot wall off code.
    """
    if spec.code:
        return compute_sandboxed(spec, inputs, unit, source, limits)
    return open_program(spec, inputs_of(inputs)).compute(unit, source)


def first_content(spec: JobSpec, inputs: Blobs, limits: SandboxLimits | None = None) -> bytes:
    """Content 0 of a job; arguments and errors as `compute_unit`."""
    if spec.code:
        return _call(_first_answer, spec, inputs, {}, b"", limits)
    return open_program(spec, inputs_of(inputs)).first()


def compute_sandboxed(
    spec: JobSpec, inputs: Blobs, unit: int, source: bytes, limits: SandboxLimits | None = None
) -> bytes:
    """`compute_unit` in a sandbox, with or without code."""
    return _call(_unit_answer, spec, inputs, {"unit": unit}, source, limits)


def run_hook(code: str, name: str, argument: bytes, limits: SandboxLimits) -> bytes:
    """One hook on its own, such as a row's transformation, in a sandbox.

    Args:
        code: the customer's text.
        name: the function in it; takes bytes and gives bytes.
        argument: what it is called with.
        limits: of the call.
    """
    request = [code.encode(), name.encode(), argument]
    return run_sandboxed("swarm_chain.reference.programs.hooks:hook_answer", request, limits)


def _call(
    answer: Callable[[list[bytes]], bytes],
    spec: JobSpec,
    inputs: Blobs,
    extra: Mapping[str, int],
    source: bytes,
    limits: SandboxLimits | None,
) -> bytes:
    named = [content for content in spec.input_hashes if content in inputs]
    header = {"spec": spec.document(), "inputs": [to_hex(content) for content in named], **extra}
    request = [canonical_json(header), source, *(inputs[content] for content in named)]
    return run_sandboxed(f"{__name__}:{answer.__name__}", request, limits or unit_limits(spec))


def _unit_answer(request: list[bytes]) -> bytes:
    program, header = _opened(request)
    return program.compute(int(str(header["unit"])), request[1])


def _first_answer(request: list[bytes]) -> bytes:
    return _opened(request)[0].first()


def _opened(request: list[bytes]) -> tuple[Program, dict[str, object]]:
    header = json.loads(request[0])
    blobs = dict(zip(map(hash_from_hex, header["inputs"]), request[2:], strict=True))
    return open_program(parse_job_spec(header["spec"]), inputs_of(blobs)), header
