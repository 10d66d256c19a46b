"""What programs and people get to see."""

import json
from enum import IntEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm_chain.cli.crash import redact, traceback_of
from swarm_chain.cli.output import Output, facts, jsonable, printable, swm, table
from swarm_chain.core.errors import RejectedError, SwarmError
from swarm_chain.core.model import SettlementLeaf
from swarm_chain.core.units import ProviderId, Wei


class Colour(IntEnum):
    RED = 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"stakeWei": 5, "count": 5}, {"stakeWei": "5", "count": 5}),
        ({"amountsWei": [1, 2]}, {"amountsWei": ["1", "2"]}),
        (2**53 + 1, str(2**53 + 1)),
        (True, True),
        (None, None),
        (b"\x01\xff", "0x01ff"),
        (Colour.RED, "red"),
        (
            SettlementLeaf(provider_id=ProviderId(1), cum_reward_wei=Wei(2), cum_penalty_wei=Wei(0)),
            {"provider_id": 1, "cum_reward_wei": "2", "cum_penalty_wei": "0"},
        ),
    ],
)
def test_json_keeps_every_integer_exact(value: object, expected: object) -> None:
    assert jsonable(value) == expected


@given(st.integers(min_value=0, max_value=2**256))
def test_wei_survive_a_trip_through_json(amount: int) -> None:
    assert int(json.loads(json.dumps(jsonable({"aWei": amount})))["aWei"]) == amount


@given(st.text())
def test_no_text_can_steer_the_terminal(text: str) -> None:
    assert all(c.isprintable() or c == "\n" for c in printable(text))


def test_one_document_whatever_was_shown(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output(as_json=True)

    output.note("for people")
    output.show({"first": 1}, facts("first", {"a": 1}))
    output.show({"second": 2})
    output.finish()
    output.finish()

    assert json.loads(capsys.readouterr().out) == {"second": 2}


def test_error_carries_values_fix_and_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    error = RejectedError("no", fix="do so", code="NotMatured", values={"maturesAt": 5, "needWei": 7})

    assert Output(as_json=True).fail(error) == 5
    assert json.loads(capsys.readouterr().out) == {
        "error": "NotMatured",
        "message": "no",
        "fix": "do so",
        "values": {"maturesAt": 5, "needWei": "7"},
        "exitCode": 5,
    }


def test_nobody_at_the_terminal_means_no(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SwarmError) as refused:
        Output().confirm("Go on?")

    assert (refused.value.code, refused.value.exit_code) == ("confirmation_needed", 2)
    Output(assume_yes=True).confirm("Go on?", typed="never asked")
    assert capsys.readouterr().err == ""


def test_unknown_amounts_are_not_zero() -> None:
    assert swm(None) == "unknown"
    assert swm(Wei(10**18)) == "1.0000 SWM"


def test_people_see_whole_addresses_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    address, case = "0x" + "ab" * 20, "0x" + "cd" * 32

    Output().show({}, table("cases", ("address", "case", ">n"), [(address, case, 1)]), table("none", ("a",), []))
    text = capsys.readouterr().out

    assert address in text
    assert case in text
    assert "none: none" in text


@given(st.binary(min_size=32, max_size=32))
def test_anything_like_a_key_is_redacted(key: bytes) -> None:
    assert key.hex() not in redact(f"x{key.hex()}y 0x{key.hex().upper()}", [])


def test_traceback_hides_what_was_read(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        raise ZeroDivisionError("sesame and sesame street")
    except ZeroDivisionError as error:
        text = traceback_of(error, ["sesame", "sesame street", ""])

    assert "ZeroDivisionError: [hidden] and [hidden]" in text
