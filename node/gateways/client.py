"""One gateway over HTTP. Source: docs/spec/jobs.md, Gateway."""

import json

from node.gateways.packing import MeasuredLine
from node.gateways.ports import ContentUpload, LogUpload
from node.model import SignedReceipt
from node.oracle_client import UPLOAD_S, JsonHttp
from node.wire import gateway_receipt_body
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import InvalidInputError, RejectedError, UnavailableError
from swarm_chain.core.gateway import (
    ISSUED_AT_HEADER,
    NODE_HEADER,
    SIGNATURE_HEADER,
    NodeAnnouncement,
    announcement_json,
)
from swarm_chain.core.units import Address, Hash32, JobId, Signature


class HttpGatewayDesk:
    """GatewayDesk over HTTP."""

    def __init__(self, http: JsonHttp) -> None:
        self._http = http

    def address(self) -> Address:
        """The gateway's."""
        found = self._http.get("/v1/gateway").get("address")
        if not isinstance(found, str):
            raise _bad_answer("names no address")
        return Address(found)

    def announce(self, announcement: NodeAnnouncement, signature: Signature) -> None:
        """Says what this node offers."""
        said = announcement_json(announcement)
        self._http.post("/v1/nodes", {"announcement": said, "signature": to_hex(signature)})

    def assignments(self, node: Address) -> tuple[JobId, ...]:
        """Posted jobs this node should accept."""
        try:
            found = json.loads(self._http.get_bytes(f"/v1/nodes/{node}/assignments", {}))
            return tuple(JobId(_whole(job["jobId"])) for job in found)
        except (ValueError, TypeError, KeyError) as error:
            raise _bad_answer("lists no assignments") from error


class HttpGatewayInbox:
    """GatewayInbox over HTTP."""

    def __init__(self, http: JsonHttp) -> None:
        self._http = http
        self._line = MeasuredLine()

    def blob(self, content: Hash32, most: int) -> bytes:
        """An input, checked against its hash."""
        try:
            found = self._http.get_bytes(f"/v1/blobs/{to_hex(content)}", {}, most=most)
        except UnavailableError as error:
            if error.code != "answer_too_large":
                raise
            raise InvalidInputError(
                f"input 0x{content.hex()} has more than {most} bytes",
                fix="raise SWARM_INPUT_CACHE_MB, or leave such jobs to others",
                code="too_large",
            ) from error
        if keccak(found) != content:
            raise _bad_answer(f"gives other bytes than those of 0x{content.hex()}")
        return found

    def content(self, upload: ContentUpload) -> None:
        """Hands in a content, packed where that is a gain."""
        headers = {
            NODE_HEADER: upload.said.node,
            ISSUED_AT_HEADER: str(upload.said.issued_at),
            SIGNATURE_HEADER: to_hex(upload.signature),
        }
        path = f"/v1/jobs/{upload.said.job_id}/contents/{upload.said.index}"

        def put(wire: bytes, encoding: str | None) -> None:
            packed = {"Content-Encoding": encoding} if encoding else {}
            self._http.put_bytes(path, wire, headers | packed)

        self._line.send(upload.content, put)

    def log(self, upload: LogUpload) -> int:
        """Hands in a piece of the log; gives how many bytes of it the gateway has now."""
        said = upload.said
        body = {
            "node": said.node,
            "offset": said.offset,
            "text": upload.text,
            "issuedAt": said.issued_at,
            "signature": to_hex(upload.signature),
        }
        try:
            answer = self._http.post(f"/v1/jobs/{said.job_id}/log", body)
        except RejectedError as error:
            if error.code != "log_offset":
                raise
            answer = dict(error.values)  # it has more or less than this node noted
        try:
            return _whole(answer["next"])
        except (KeyError, TypeError) as error:
            raise _bad_answer("does not say how much of the log it has") from error

    def receipt(self, signed: SignedReceipt) -> Signature:
        """Hands in a receipt; gives the gateway's signature, unchecked."""
        path = f"/v1/jobs/{signed.receipt.job_id}/receipts"
        answer = self._http.post(path, gateway_receipt_body(signed), timeout_s=UPLOAD_S)  # canaries take their time
        try:
            return Signature(bytes.fromhex(str(answer["gatewaySignature"]).removeprefix("0x")))
        except (KeyError, ValueError) as error:
            raise _bad_answer("gives no signature") from error


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError(f"{value!r} is no whole number")
    return value


def _bad_answer(what: str) -> UnavailableError:
    return UnavailableError(f"the gateway {what}", fix="check that its version fits this node's", code="bad_answer")
