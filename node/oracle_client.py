"""One oracle member over HTTP: bounded answers, short waits, a repeated try where repeating is harmless."""

import json
from collections.abc import Callable, Mapping
from threading import Event

import httpx2
import stamina

from node import wire
from node.model import DevicePlan, SignedReceipt
from node.ports import BegunAudit, CheckpointUpload, EpochProof, InputUpload
from swarm_chain.core.audits import AuditAnswer, AuditRequest
from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.encoding import canonical_json, keccak, to_hex
from swarm_chain.core.errors import InconsistentError, InvalidInputError, RejectedError, SwarmError, UnavailableError
from swarm_chain.core.messages import Json
from swarm_chain.core.model import Heartbeat, SignedCommitment, SignedProof, WindowRecord
from swarm_chain.core.units import Address, EpochNumber, Hash32, ProviderId, Signature

MAX_ANSWER_BYTES = 4 * 1024 * 1024
CONNECT_S, ANSWER_S, UPLOAD_S = 2.0, 5.0, 60.0
ATTEMPTS = 2
EARLY_MS = 1000  # a member holds a call for a nonce until its moment, up to two seconds
LONGEST_WAIT_MS = 600_000


class JsonHttp:
    """JSON calls of one member over one kept-alive connection pool.

    Args:
        url: base of the member, such as https://oracle.example.
        client: what sends; None makes one.
        who: what answers there, for errors.
    """

    def __init__(self, url: str, client: httpx2.Client | None = None, who: str = "oracle member") -> None:
        self.url = url.rstrip("/")
        self._who = who
        self._client = client or httpx2.Client(timeout=httpx2.Timeout(ANSWER_S, connect=CONNECT_S))

    def get(self, path: str) -> dict[str, object]:
        """JSON object at a path.

        Raises:
            UnavailableError: the member is away or answers nonsense.
            InvalidInputError: it knows no such thing.
        """
        return self._send("GET", path, None, ANSWER_S)

    def post(self, path: str, body: Json, *, timeout_s: float = ANSWER_S) -> dict[str, object]:
        """Answer to a JSON body; every message of this protocol may be sent twice."""
        return self._send("POST", path, body, timeout_s)

    def get_bytes(
        self, path: str, headers: Mapping[str, str], *, timeout_s: float = UPLOAD_S, most: int = MAX_ANSWER_BYTES
    ) -> bytes:
        """Bytes at a path, at most `most`.

        Raises:
            UnavailableError: the member is away, or not now.
            InvalidInputError: it refuses.
        """
        request = self._client.build_request("GET", self.url + path, headers=dict(headers), timeout=timeout_s)
        return self._repeated(lambda: self._content(request, most))

    def put_bytes(self, path: str, content: bytes, headers: Mapping[str, str]) -> None:
        """Puts bytes at a path.

        Raises:
            UnavailableError: the other side is away, or not now.
            InvalidInputError: it refuses.
            RejectedError: it has reasons of its own to refuse.
        """
        request = self._client.build_request(
            "PUT", self.url + path, content=content, headers=dict(headers), timeout=UPLOAD_S
        )
        self._repeated(lambda: self._content(request))

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def _send(self, method: str, path: str, body: Json | None, timeout_s: float) -> dict[str, object]:
        request = self._client.build_request(method, self.url + path, json=body, timeout=timeout_s)
        answer = _parse(self._repeated(lambda: self._content(request)))
        if answer is None:
            raise UnavailableError(f"{self.url}{path} does not answer like an {self._who}", code="bad_answer")
        return answer

    def _repeated(self, call: Callable[[], bytes]) -> bytes:
        repeated = stamina.retry(on=httpx2.TransportError, attempts=ATTEMPTS, wait_initial=0.1, wait_max=0.5)
        try:
            return repeated(call)()
        except httpx2.RequestError as error:  # the last attempt's
            raise UnavailableError(
                f"{self._who} {self.url} does not answer ({type(error).__name__})",
                code=f"{self._who.split()[0]}_unreachable",
            ) from error

    def _content(self, request: httpx2.Request, most: int = MAX_ANSWER_BYTES) -> bytes:
        response = self._client.send(request, stream=True)
        try:
            parts, size = [], 0
            for part in response.iter_bytes():
                size += len(part)
                if size > most:
                    raise UnavailableError(f"{request.url} answers more than {most} bytes", code="answer_too_large")
                parts.append(part)
        finally:
            response.close()
        content = b"".join(parts)
        if response.status_code >= 300:
            raise _refusal(response.status_code, _parse(content) or {}, self._who.split()[0])
        return content


class HttpOracleReader:
    """OracleReader over HTTP."""

    def __init__(self, http: JsonHttp) -> None:
        self._http = http

    def windows(self) -> tuple[WindowRecord, ...]:
        """Windows of the current epoch as the member sees them."""
        return wire.parse_windows(self._http.get("/v1/windows/current"))

    def plans(self, node: Address) -> tuple[DevicePlan, ...]:
        """Runs the node's devices owe."""
        return wire.parse_plans(self._http.get(f"/v1/plans/{node}"))

    def spec(self, spec_hash: Hash32) -> object:
        """The job spec of a hash.

        Raises:
            UnavailableError: the member's document has another hash.
        """
        document = self._http.get(f"/v1/jobs/specs/{to_hex(spec_hash)}")
        if keccak(canonical_json(document)) != spec_hash:
            raise UnavailableError("the member's spec has another hash than the job", code="bad_answer")
        return document

    def epoch_proof(self, epoch: EpochNumber, provider_id: ProviderId) -> EpochProof:
        """The provider's leaf and path; unverified."""
        return wire.parse_epoch_proof(self._http.get(f"/v1/epochs/{epoch}/proofs/{provider_id}"))


class HttpOracleInbox:
    """OracleInbox over HTTP."""

    def __init__(self, http: JsonHttp) -> None:
        self._http = http

    def heartbeat(self, heartbeat: Heartbeat, signature: Signature) -> None:
        """Hands in a sign of life."""
        self._http.post("/v1/heartbeats", wire.heartbeat_body(heartbeat, signature))

    def commitment(self, signed: SignedCommitment) -> None:
        """Hands in a commitment; stops the member's clock."""
        self._http.post("/v1/commitments", wire.commitment_body(signed))

    def proof(self, signed: SignedProof) -> None:
        """Hands in the openings of a drawn window."""
        self._http.post("/v1/proofs", wire.proof_body(signed))

    def receipt(self, signed: SignedReceipt) -> None:
        """Hands in a job's receipt with the content hashes of its contents and the gateway's signature."""
        self._http.post(f"/v1/jobs/{signed.receipt.job_id}/receipts", wire.receipt_body(signed))

    def checkpoint(self, upload: CheckpointUpload | InputUpload) -> None:
        """Hands in what a judge computes drawn units from: a checkpoint, or an input."""
        of_job = f"/v1/jobs/{upload.job_id}"
        if isinstance(upload, InputUpload):
            path, body = f"{of_job}/inputs/{to_hex(content_hash(upload.content))}", wire.input_body(upload)
        else:
            path, body = f"{of_job}/checkpoints", wire.checkpoint_body(upload)
        self._http.post(path, body, timeout_s=UPLOAD_S)


class HttpOracleSpecs:
    """OracleSpecs over HTTP."""

    def __init__(self, http: JsonHttp) -> None:
        self._http = http

    def keep(self, document: object) -> None:
        """Hands in a job's spec."""
        self._http.post("/v1/jobs/specs", {"spec": document})


class HttpOracleAudits:
    """OracleAudits over HTTP."""

    def __init__(self, http: JsonHttp) -> None:
        self._http = http
        self._closing = Event()

    def close(self) -> None:
        """Waits for no moment any more; what waits fails."""
        self._closing.set()

    def address(self) -> Address:
        """The member's address.

        Raises:
            UnavailableError: it is a dry run, and audits nobody.
        """
        member = self._http.get("/v1/status").get("member")
        if not isinstance(member, str):
            raise UnavailableError(f"oracle member {self._http.url} has no key: it audits nobody", code="dry_run")
        return Address(member)

    def begin(self, request: AuditRequest, signature: Signature) -> BegunAudit:
        """Asks to be audited, and waits for the moment in which the member asks all devices that did."""
        begun = self._http.post("/v1/audits", wire.audit_request_body(request, signature))
        wait_ms = wire.parse_asked_in_ms(begun)
        if wait_ms:
            self._wait_until_asked(wait_ms)
            begun |= self._http.get(f"/v1/audits/{to_hex(wire.parse_audit_id(begun))}/nonce")
        return wire.parse_begun_audit(begun)

    def _wait_until_asked(self, wait_ms: int) -> None:
        if wait_ms > LONGEST_WAIT_MS:
            raise UnavailableError(f"{self._http.url} would ask in {wait_ms} ms only", code="bad_answer")
        if self._closing.wait(max(wait_ms - EARLY_MS, 0) / 1000):
            raise UnavailableError("the agent ends", code="closing")

    def answer(self, answer: AuditAnswer, signature: Signature) -> Hash32:
        """Hands in an answer; gives the draw."""
        return wire.parse_draw(self._http.post("/v1/audits/answers", wire.audit_answer_body(answer, signature)))

    def open(self, audit_id: Hash32, openings: list[Json]) -> None:
        """Hands in what was drawn."""
        self._http.post(f"/v1/audits/{to_hex(audit_id)}/openings", {"openings": openings})


def _parse(content: bytes) -> dict[str, object] | None:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):  # ValueError alone is a number with more digits than Python reads
        return None
    return document if isinstance(document, dict) else None


def refusal_of(status: int, content: bytes) -> SwarmError:
    """The error a member's answer stands for.

    Args:
        status: HTTP status, 300 or above.
        content: body of the answer, whatever it is.
    """
    return _refusal(status, _parse(content) or {})


def _refusal(status: int, document: Mapping[str, object], who: str = "oracle") -> SwarmError:
    message = str(document.get("message") or f"HTTP status {status}")[:300]
    fix, code = str(document.get("fix") or "")[:300], str(document.get("error") or f"http_{status}")[:64]
    families: dict[int, type[SwarmError]] = {409: RejectedError, 500: InconsistentError}
    if status in {429, 502, 503, 504}:
        return UnavailableError(f"{who}: {message}", fix=fix, code=code)
    values = document.get("values")
    known: Mapping[str, object] = values if isinstance(values, dict) else {}
    return families.get(status, InvalidInputError)(f"{who}: {message}", fix=fix, code=code, values=known)
