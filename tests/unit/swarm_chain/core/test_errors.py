"""The four families carry what their handlers need."""

import json

import pytest

from swarm_chain.core.errors import (
    InconsistentError,
    InvalidInputError,
    RejectedError,
    SwarmError,
    UnavailableError,
)


@pytest.mark.parametrize(
    ("family", "status", "code"),
    [(InvalidInputError, 422, 2), (UnavailableError, 503, 4), (RejectedError, 409, 5), (InconsistentError, 500, 70)],
)
def test_family_fixes_http_status_and_exit_code(family: type[SwarmError], status: int, code: int) -> None:
    error = family("what is wrong")

    assert (error.http_status, error.exit_code) == (status, code)
    assert str(error) == "what is wrong"


def test_exit_code_and_code_can_be_narrowed() -> None:
    error = InvalidInputError("no key file", code="keystore_missing", exit_code=3)

    assert (error.code, error.exit_code) == ("keystore_missing", 3)


def test_document_of_an_error_is_json_with_message_fix_and_values() -> None:
    error = RejectedError("NotMatured", code="NotMatured", fix="wait", values={"maturesAt": 5})

    assert json.loads(json.dumps(error.as_dict())) == {
        "error": "NotMatured",
        "message": "NotMatured",
        "fix": "wait",
        "values": {"maturesAt": 5},
    }


def test_values_are_a_copy_of_what_was_given() -> None:
    given = {"have": 1}
    error = RejectedError("no", values=given)

    given["have"] = 2

    assert error.values == {"have": 1}


def test_unavailable_says_when_to_come_back() -> None:
    assert UnavailableError("down", retry_after=60).as_dict()["values"] == {"retryAfter": 60}
