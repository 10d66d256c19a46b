"""Fields and bodies of HTTP requests that more than one service takes: strict types, nothing converted, nothing unknown."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from swarm_chain.core.checkpoints import MAX_CHECKPOINTS
from swarm_chain.core.encoding import address_bytes, checksum_address, hash_from_hex
from swarm_chain.core.kinds import JobKind
from swarm_chain.core.model import Receipt
from swarm_chain.core.units import Address, JobId, Signature, Timestamp

UINT32_MAX = 2**32 - 1


def _checksummed(text: str) -> str:
    if checksum_address(address_bytes(Address(text))) != text:
        raise ValueError("address is not checksummed (EIP-55)")
    return text


HexHash = Annotated[str, StringConstraints(pattern=r"^0x[0-9a-f]{64}$")]
HexSignature = Annotated[str, StringConstraints(pattern=r"^0x[0-9a-f]{130}$")]
HexAddress = Annotated[str, StringConstraints(pattern=r"^0x[0-9a-fA-F]{40}$"), AfterValidator(_checksummed)]
Uint32 = Annotated[int, Field(ge=0, le=UINT32_MAX)]
Uint53 = Annotated[int, Field(ge=0, lt=2**53)]


class Body(BaseModel):
    """Base of all bodies: nothing is converted, nothing unknown is accepted."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)


class ReceiptFields(Body):
    """JobReceipt."""

    job_id: Uint53
    kind: Annotated[int, Field(ge=1, le=len(JobKind))]
    node: HexAddress
    spec_hash: HexHash
    input_digest: HexHash
    output_digest: HexHash
    checkpoint_root: HexHash
    checkpoint_count: Annotated[int, Field(ge=0, le=MAX_CHECKPOINTS)]
    device_seconds: Uint53
    started_at: Uint53
    finished_at: Uint53
    exit_code: Uint32

    def to_core(self) -> Receipt:
        """The core value of these fields."""
        return Receipt(
            job_id=JobId(self.job_id),
            kind=JobKind(self.kind),
            node=Address(self.node),
            spec_hash=hash_from_hex(self.spec_hash),
            input_digest=hash_from_hex(self.input_digest),
            output_digest=hash_from_hex(self.output_digest),
            checkpoint_root=hash_from_hex(self.checkpoint_root),
            checkpoint_count=self.checkpoint_count,
            device_seconds=self.device_seconds,
            started_at=Timestamp(self.started_at),
            finished_at=Timestamp(self.finished_at),
            exit_code=self.exit_code,
        )


def signature_bytes(text: str) -> Signature:
    """65 bytes of a 0x-hex signature that the schema has checked."""
    return Signature(bytes.fromhex(text[2:]))
