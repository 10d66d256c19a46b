"""What packing leaves of the contents of each program, its speed, and the line below which it is a gain.

Baseline: the same bytes sent as they are.
"""

import argparse
from functools import partial
from statistics import median

from _report import Result, print_report, seconds_of

from swarm_chain.core.packing import packed
from tests.job_examples import EXAMPLES, WALLED_OFF


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    results = []
    for program in sorted(EXAMPLES.keys() - WALLED_OFF):
        body = b"".join(EXAMPLES[program](1).contents)
        (times,) = seconds_of(partial(packed, body), rounds=rounds)
        left = len(packed(body))
        gains_below = (len(body) - left) / median(times)
        results += [
            Result(name=f"{program}, left", value=left, unit="bytes", baseline=len(body), ratio=left / len(body)),
            Result(name=f"{program}, a gain on lines below", value=gains_below * 8 / 1e6, unit="Mbit/s"),
        ]
    print_report("packing", results)


if __name__ == "__main__":
    main()
