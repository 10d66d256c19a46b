"""The golden epoch is what the code makes of it today; forge reads the same file."""

import json
from pathlib import Path

from tests.golden.epoch_case import epoch_document

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "epoch.json"


def test_golden_epoch_when_made_again_then_the_same_to_the_byte() -> None:
    assert json.loads(GOLDEN.read_text(encoding="utf-8")) == epoch_document()


def test_golden_epoch_when_read_then_tells_the_story() -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    earned = [int(amount) for amount in golden["cumRewards"]]
    penalised = [int(amount) for amount in golden["cumPenalties"]]
    violations = [(v["providerId"], v["class"], v["severity"]) for v in golden["outcomes"]["violations"]]

    assert earned[0] > earned[1] > 0
    assert earned[2] == earned[4] == 0
    assert [amount > 0 for amount in penalised] == [False, False, False, True, False]
    assert violations == [(3, 3, 1), (4, 1, 1)], "a notice of low stake, and one of absence; the lie is no vote's"
    assert [(job["jobId"], job["payWei"]) for job in golden["outcomes"]["jobs"]] == [(1, "10")]
