"""npm's @openzeppelin/merkle-tree as a judge of our trees: it checks every node of a dump it loads."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("merkle_oz.mjs")


def open_zeppelin(*documents: dict[str, Any]) -> list[dict[str, Any]]:
    """What the JavaScript library says of dumps and paths."""
    program = shutil.which("node")
    assert program, "Node.js is not on PATH: run `make install`"
    done = subprocess.run(
        [program, str(SCRIPT)],
        input=json.dumps(documents),
        capture_output=True,
        text=True,
        cwd=SCRIPT.parent,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: list[dict[str, Any]] = json.loads(done.stdout)
    return answer
