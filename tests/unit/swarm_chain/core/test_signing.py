"""EIP-712 digests judged by eth-account, and recovery that no second signature of the same message passes."""

from collections.abc import Callable

import pytest
from eth_account.messages import encode_typed_data
from hypothesis import given
from hypothesis import strategies as st

from swarm_chain.core import signing
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import Commitment
from swarm_chain.core.signing import SECP256K1_HALF_N, recover, require_signed_by
from swarm_chain.core.units import Hash32, ProviderId, Signature, WindowId
from swarm_chain.testing import FakeSigner

BEACON = FakeSigner("beacon contract").address
ALICE = FakeSigner("alice")
DOMAIN, STRUCT = keccak(b"domain"), keccak(b"message")
DIGEST = signing.typed_digest(DOMAIN, STRUCT)
CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


def _digest_elsewhere(type_text: str, message: dict[str, object]) -> bytes:
    """Digest of a message as eth-account makes it from the type's own text."""
    name, _, arguments = type_text.partition("(")
    members = [{"type": part.split(" ")[0], "name": part.split(" ")[1]} for part in arguments.rstrip(")").split(",")]
    domain = {"name": "Swarm", "version": "1", "chainId": 31337, "verifyingContract": BEACON}
    signable = encode_typed_data(domain, {name: members}, message)
    return bytes(keccak(b"\x19" + signable.version + signable.header + signable.body))


@given(st.integers(0, 2**256 - 1), st.integers(0, 2**256 - 1), st.binary(min_size=32, max_size=32))
def test_commitment_digest_is_eip712(window: int, device: int, root: bytes) -> None:
    commitment = Commitment(
        window_id=WindowId(window),
        window_seed=Hash32(root[::-1]),
        node=ALICE.address,
        device=device,
        m=64,
        n=64,
        steps=8,
        root=Hash32(root),
    )
    shape = {"m": 64, "n": 64, "steps": 8}
    message = {"windowId": window, "windowSeed": root[::-1], "node": ALICE.address, "device": device, "root": root}

    digest = signing.commitment_digest(signing.domain_separator(31337, BEACON), commitment)

    assert digest == _digest_elsewhere(signing.COMMITMENT_TYPE, message | shape)


def test_admission_checkpoint_and_observation_digests_are_eip712() -> None:
    domain, address, content = signing.domain_separator(31337, BEACON), ALICE.address, keccak(b"content")
    admission = {"providerId": 3, "node": address, "nonce": 4, "deadline": 5}
    checkpoint = {"jobId": 3, "node": address, "index": 4, "contentHash": content, "pathHash": content}
    observation = {"epoch": 3, "member": address, "contentHash": content}

    made = [
        signing.admission_digest(domain, ProviderId(3), address, 4, 5),
        signing.checkpoint_digest(domain, 3, address, 4, content, content),
        signing.observation_digest(domain, 3, address, content),
    ]

    assert made == [
        _digest_elsewhere(signing.ADMISSION_TYPE, admission),
        _digest_elsewhere(signing.CHECKPOINT_TYPE, checkpoint),
        _digest_elsewhere(signing.OBSERVATION_TYPE, observation),
    ]


def test_domain_separator_differs_by_chain_and_by_contract() -> None:
    other = FakeSigner("other contract").address

    assert len({signing.domain_separator(*place) for place in [(1, BEACON), (2, BEACON), (1, other)]}) == 3


def test_signer_is_recovered() -> None:
    assert recover(DIGEST, ALICE.sign_typed(DOMAIN, STRUCT)) == ALICE.address
    require_signed_by(ALICE.address, DIGEST, ALICE.sign_typed(DOMAIN, STRUCT))


def test_signature_of_somebody_else_is_refused_with_both_names() -> None:
    bob = FakeSigner("bob")

    with pytest.raises(InvalidInputError) as caught:
        require_signed_by(ALICE.address, DIGEST, bob.sign_typed(DOMAIN, STRUCT))

    assert caught.value.code == "wrong_signer"
    assert bob.address in caught.value.message
    assert ALICE.address in caught.value.message


def test_high_s_twin_of_a_signature_is_refused() -> None:
    signature = ALICE.sign_typed(DOMAIN, STRUCT)
    s = int.from_bytes(signature[32:64], "big")
    twin = Signature(signature[:32] + (CURVE_ORDER - s).to_bytes(32, "big") + bytes([27 + 28 - signature[64]]))

    with pytest.raises(InvalidInputError, match="high s"):
        recover(DIGEST, twin)


def test_largest_low_s_is_half_of_the_curve_order() -> None:
    assert SECP256K1_HALF_N == CURVE_ORDER // 2


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s[:64],
        lambda s: s + b"\0",
        lambda s: s[:64] + bytes([s[64] - 27]),
        lambda s: s[:64] + b"\x1d",
        lambda s: bytes(32) + s[32:],
        lambda s: s[:32] + bytes(32) + s[64:],
        lambda s: b"\xff" * 32 + s[32:],
        lambda _: b"",
    ],
)
def test_malformed_signature_is_refused(change: Callable[[bytes], bytes]) -> None:
    malformed = change(bytes(ALICE.sign_typed(DOMAIN, STRUCT)))

    with pytest.raises(InvalidInputError) as caught:
        recover(DIGEST, Signature(malformed))

    assert caught.value.code == "bad_signature"


@given(st.integers(0, 65 * 8 - 1))
def test_signature_with_one_changed_bit_never_names_the_signer(bit: int) -> None:
    raw = bytearray(ALICE.sign_typed(DOMAIN, STRUCT))
    raw[bit // 8] ^= 1 << bit % 8

    try:
        named = recover(DIGEST, Signature(bytes(raw)))
    except InvalidInputError:
        return
    assert named != ALICE.address
