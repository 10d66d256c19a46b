"""The four families of errors, named after what the handler must do.

SwarmError
├─ InvalidInputError   refuse, tell the sender, never retry     HTTP 422   exit 2
├─ UnavailableError    retry with backoff                       HTTP 503   exit 4
├─ RejectedError       the chain said no                        HTTP 409   exit 5
└─ InconsistentError   two facts disagree: stop and page        HTTP 500   exit 70

A failed proof is a value (`Verdict`), never an exception.
"""

from collections.abc import Mapping


class SwarmError(Exception):
    """Base of every error Swarm raises on purpose.

    Args:
        message: what is wrong, one sentence, no secret in it.
        fix: what to do next, one sentence; may be empty.
        code: stable identifier for logs and `--json`, snake_case.
        values: the facts behind the message; JSON-ready.
        exit_code: overrides the family's exit code (3 config or keys, 6 doctor, 7 timed out).
    """

    family_code = "error"
    http_status = 500
    default_exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        fix: str = "",
        code: str = "",
        values: Mapping[str, object] | None = None,
        exit_code: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.code = code or self.family_code
        self.values: dict[str, object] = dict(values or {})
        self.exit_code = self.default_exit_code if exit_code is None else exit_code

    def as_dict(self) -> dict[str, object]:
        """JSON-ready form used by the HTTP layer and `--json`."""
        return {"error": self.code, "message": self.message, "fix": self.fix, "values": self.values}


class InvalidInputError(SwarmError):
    """The sender must change the input; a retry cannot help."""

    family_code = "invalid_input"
    http_status = 422
    default_exit_code = 2


class UnavailableError(SwarmError):
    """A part is away for now; retry after `retry_after` seconds."""

    family_code = "unavailable"
    http_status = 503
    default_exit_code = 4

    def __init__(
        self, message: str, *, fix: str = "", code: str = "", retry_after: int = 5, exit_code: int | None = None
    ) -> None:
        super().__init__(message, fix=fix, code=code, values={"retryAfter": retry_after}, exit_code=exit_code)
        self.retry_after = retry_after


class RejectedError(SwarmError):
    """The chain said no; carries the decoded custom error, its values and what to do."""

    family_code = "rejected"
    http_status = 409
    default_exit_code = 5


class InconsistentError(SwarmError):
    """Two facts that must agree do not: stop and page a person."""

    family_code = "inconsistent"
    http_status = 500
    default_exit_code = 70
