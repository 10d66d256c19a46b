"""Writes tests/golden/*.json from the core: what the contracts must compute to the same bytes.

Made for forge's `vm.parseJson…Array`: one array a field, integers as decimal strings, bytes as 0x-hex.
`python -m tools.golden` writes the files, `python -m tools.golden check` compares them.
"""

import json
import sys
from pathlib import Path

from tests.golden.epoch_case import epoch_document
from tools.golden.court import court_document
from tools.golden.draws import challenge
from tools.golden.messages import eip712
from tools.golden.trees import outcomes, report, settlement

TARGET = Path(__file__).resolve().parents[2] / "tests" / "golden"

DOCUMENTS = {
    "settlement": settlement,
    "outcomes": outcomes,
    "epoch": epoch_document,
    "report": report,
    "eip712": eip712,
    "challenge": challenge,
    "court": court_document,
}


def golden_texts() -> dict[str, str]:
    """File name to text of every golden file."""
    return {f"{name}.json": json.dumps(make(), indent=2) + "\n" for name, make in DOCUMENTS.items()}


def stale_files() -> tuple[str, ...]:
    """Names of committed files that differ from what the core gives now."""
    texts = golden_texts().items()
    return tuple(name for name, text in texts if not (TARGET / name).exists() or (TARGET / name).read_text() != text)


def main(arguments: list[str]) -> int:
    """Writes the files, or with `check` compares them."""
    if arguments == ["check"]:
        stale = stale_files()
        sys.stdout.write("".join(f"tests/golden/{name} is stale: run `make golden`\n" for name in stale))
        return 1 if stale else 0
    TARGET.mkdir(exist_ok=True)
    for name, text in golden_texts().items():
        (TARGET / name).write_text(text)
    return 0
