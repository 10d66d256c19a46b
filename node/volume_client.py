"""Volumes of one oracle member over HTTP; what it tells is checked before a byte of it is kept."""

from node.oracle_client import HttpOracleAudits, JsonHttp
from node.ports import GivenVolume
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.model import Deployment
from swarm_chain.core.storageset import BLOCK_BYTES, Volume
from swarm_chain.core.units import UINT64_MAX, Address, EpochNumber, Signature
from swarm_chain.core.volumes import BlocksConfirmed, BlocksRequest, VolumeRequest, volume_id


class HttpOracleVolumes:
    """OracleVolumes over HTTP.

    Args:
        http: the member.
        deployment: names chain and beacon of its volumes.
    """

    def __init__(self, http: JsonHttp, deployment: Deployment) -> None:
        self._http = http
        self._deployment = deployment

    def address(self) -> Address:
        """The member's address.

        Raises:
            UnavailableError: it is away, or a dry run.
        """
        return HttpOracleAudits(self._http).address()

    def open(self, request: VolumeRequest, signature: Signature) -> GivenVolume:
        """The node's volume with this member, opened if there is none.

        Raises:
            UnavailableError: the member is away, or its answer is of another volume.
        """
        fields = {"node": request.node, "member": request.member, "index": request.index}
        answer = self._http.post("/v1/volumes", {"request": fields, "signature": to_hex(signature)})
        volume = Volume(
            chain_id=self._deployment.chain_id,
            beacon=self._deployment.contracts["ChallengeBeacon"],
            member=request.member,
            node=request.node,
            epoch=EpochNumber(_integer(answer, "epoch")),
            index=_integer(answer, "index"),
        )
        if answer.get("volumeId") != to_hex(volume_id(volume)):
            raise _unreadable("volumeId")
        return GivenVolume(volume=volume, confirmed=_integer(answer, "confirmed"), left=_integer(answer, "left"))

    def blocks(self, request: BlocksRequest, signature: Signature) -> bytes:
        """Blocks that are not confirmed yet.

        Raises:
            UnavailableError: the member is away, sends no more in this epoch, or sent something else.
            InvalidInputError: it refuses.
        """
        path = f"/v1/volumes/{to_hex(request.volume_id)}/blocks?first={request.first}&count={request.count}"
        content = self._http.get_bytes(path, {"swarm-signature": to_hex(signature)})
        if len(content) != request.count * BLOCK_BYTES:
            raise _unreadable("number of blocks")
        return content

    def confirm(self, confirmed: BlocksConfirmed, signature: Signature) -> int:
        """Says what is on disk.

        Raises:
            UnavailableError: the member is away.
            InvalidInputError: it refuses.
        """
        fields = {"volume": to_hex(confirmed.volume_id), "blocks": confirmed.blocks}
        path = f"/v1/volumes/{fields['volume']}/confirmations"
        return _integer(self._http.post(path, {"confirmation": fields, "signature": to_hex(signature)}), "confirmed")

    def close(self) -> None:
        """Ends the connections."""
        self._http.close()


def _integer(answer: dict[str, object], name: str) -> int:
    value = answer.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= UINT64_MAX:
        raise _unreadable(name)
    return value


def _unreadable(name: str) -> UnavailableError:
    return UnavailableError(
        f"the member's answer has no proper {name}", fix="check that its version fits this node's", code="bad_answer"
    )
