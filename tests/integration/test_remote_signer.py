"""A key in a remote signer: what the chain takes from it, and what never leaves when the signer is broken or wrong."""

import threading
from collections.abc import Callable, Iterator

import pytest
from eth_keys.datatypes import PrivateKey

from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.adapters.remote_signer import RemoteSigner, SignerEndpoint, connect_signer
from swarm_chain.adapters.sender import WaitPolicy, Web3Writer, send_and_wait
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InconsistentError, InvalidInputError, SwarmError, UnavailableError
from swarm_chain.core.model import ContractCall
from swarm_chain.core.signing import SECP256K1_HALF_N
from swarm_chain.core.units import EpochNumber, window_id
from swarm_chain.testing import FakeSigner
from tests.chain_fixtures import ChainTools
from tests.integration.oracle.committee import MEMBER_KEY
from tests.integration.signer_server import SignerServer, running_signer

OTHER = keccak(b"another key")
BOB = FakeSigner("bob").address
DOMAIN, STRUCT = keccak(b"domain"), keccak(b"struct")
ORDER = 2 * SECP256K1_HALF_N + 1
QUICK = WaitPolicy(timeout_ms=30_000, poll_ms=20)


@pytest.fixture
def server() -> Iterator[SignerServer]:
    with running_signer(MEMBER_KEY) as made:
        yield made


@pytest.fixture
def signer(server: SignerServer) -> RemoteSigner:
    return connect_signer(SignerEndpoint(url=server.url, timeout_s=20))


def test_signatures_when_the_key_is_remote_then_byte_for_byte_those_of_the_key_itself(signer: RemoteSigner) -> None:
    local = KeySigner(MEMBER_KEY)
    fields: dict[str, object] = {"type": 2, "chainId": 31337, "nonce": 3, "gas": 21_000, "value": 0, "data": b"\1\2"}
    fields |= {"maxFeePerGas": 5, "maxPriorityFeePerGas": 1, "to": BOB}

    assert signer.address == local.address
    assert signer.sign_typed(DOMAIN, STRUCT) == local.sign_typed(DOMAIN, STRUCT)
    assert signer.sign_text(b"hello") == local.sign_text(b"hello")
    assert signer.sign_transaction(fields) == local.sign_transaction(fields)


def test_member_when_its_key_is_remote_then_the_chain_takes_its_transactions_and_typed_messages(
    tools: ChainTools, server: SignerServer, signer: RemoteSigner
) -> None:
    epoch = tools.call("EpochOracle", "currentEpoch")
    assert isinstance(epoch, int)
    number = window_id(EpochNumber(epoch), 0)
    owner = FakeSigner("provider of the node")
    provider = tools.register(owner)

    tools.send(signer, "ChallengeBeacon", "commitSecret", number, keccak(b"hidden"))
    tools.add_node(owner, provider, signer)

    assert tools.call("ProviderRegistry", "nodeNonce", signer.address) == 1
    assert [data[:1] for data in server.signed] == [b"\x02", b"\x19"]


def high_s(signature: bytes) -> bytes:
    s = ORDER - int.from_bytes(signature[32:64], "big")
    return signature[:32] + s.to_bytes(32, "big") + bytes([27 + 28 - signature[64]])


def parity(signature: bytes) -> bytes:
    return signature[:64] + bytes([signature[64] - 27])


def other_half(signature: bytes) -> bytes:
    return signature[:64] + bytes([27 + 28 - signature[64]])


def zeros(signature: bytes) -> bytes:
    return bytes(64) + signature[64:]


@pytest.mark.parametrize("change", [high_s, parity, other_half, zeros], ids=lambda change: change.__name__)
def test_signature_when_it_is_malleable_or_malformed_then_nothing_leaves(
    tools: ChainTools, server: SignerServer, signer: RemoteSigner, change: Callable[[bytes], bytes]
) -> None:
    server.change = change
    before = tools.reader.block("latest")

    with pytest.raises(InconsistentError) as caught:
        send_and_wait(Web3Writer(tools.reader, signer), _payment(), SystemClock(), policy=QUICK)

    assert caught.value.code == "wrong_signature"
    assert tools.reader.block("latest") == before


def test_signature_when_another_key_made_it_then_nothing_leaves(
    tools: ChainTools, server: SignerServer, signer: RemoteSigner
) -> None:
    server.use_key = PrivateKey(OTHER)
    tools.fund(FakeSigner("funded").address)

    with pytest.raises(InconsistentError, match=f"not one of {signer.address}"):
        Web3Writer(tools.reader, signer).prepare(_payment())
    with pytest.raises(InconsistentError):
        signer.sign_typed(DOMAIN, STRUCT)


@pytest.mark.parametrize(
    ("status", "body", "family", "code"),
    [
        (404, b"", InvalidInputError, "signer_key_unknown"),
        (401, b"", InvalidInputError, "signer_refused"),
        (403, b"", InvalidInputError, "signer_refused"),
        (400, b"Bad request", UnavailableError, "signer_unavailable"),
        (500, b"vault sealed", UnavailableError, "signer_unavailable"),
        (307, b"", UnavailableError, "signer_unavailable"),
        (200, b"<html>hello</html>", UnavailableError, "signer_unreadable"),
        (200, b"", UnavailableError, "signer_unreadable"),
        (200, b"0x" + b"ab" * 64, UnavailableError, "signer_unreadable"),
        (200, b"\xff\xfe", UnavailableError, "signer_unreadable"),
        (200, b"0x" + b"00" * 2**21, UnavailableError, "signer_unreadable"),
    ],
)
def test_answer_when_it_is_no_signature_then_one_clear_error(
    server: SignerServer, signer: RemoteSigner, status: int, body: bytes, family: type[SwarmError], code: str
) -> None:
    server.status, server.body = status, body

    with pytest.raises(family) as caught:
        signer.sign_typed(DOMAIN, STRUCT)

    assert caught.value.code == code
    assert caught.value.fix


def test_signer_when_it_hangs_or_is_gone_then_unavailable(server: SignerServer) -> None:
    signer = connect_signer(SignerEndpoint(url=server.url, timeout_s=0.2))
    server.stall = threading.Event()
    with pytest.raises(UnavailableError) as late:
        signer.sign_typed(DOMAIN, STRUCT)
    with pytest.raises(UnavailableError) as gone:
        connect_signer(SignerEndpoint(url="http://127.0.0.1:9"))

    assert (late.value.code, gone.value.code) == ("signer_unavailable", "signer_unavailable")


@pytest.mark.parametrize("body", [b"{}", b"[1]", b'["0xzz"]', b'["0x1234"]', b"nothing", b"5"])
def test_list_of_keys_when_it_is_none_then_refused(server: SignerServer, body: bytes) -> None:
    server.body = body

    with pytest.raises(SwarmError) as caught:
        connect_signer(SignerEndpoint(url=server.url))

    assert caught.value.code in {"signer_unreadable", "signer_key_unknown"}


def test_key_when_there_are_several_then_it_must_be_named(server: SignerServer) -> None:
    endpoint = SignerEndpoint(url=server.url)
    server.keys.append(PrivateKey(OTHER))
    with pytest.raises(InvalidInputError) as several:
        connect_signer(endpoint)
    with pytest.raises(InvalidInputError) as unknown:
        connect_signer(endpoint, BOB)

    assert (several.value.exit_code, unknown.value.exit_code) == (3, 3)
    assert KeySigner(OTHER).address in several.value.fix
    assert connect_signer(endpoint, KeySigner(OTHER).address).sign_text(b"x") == KeySigner(OTHER).sign_text(b"x")


def test_password_when_it_stands_in_the_url_then_sent_and_never_shown(server: SignerServer) -> None:
    server.password = "p@ss/word"
    right = SignerEndpoint(url=server.url.replace("//", "//swarm:p%40ss%2Fword@"))
    wrong = SignerEndpoint(url=server.url.replace("//", "//swarm:hidden-word@") + "/vault/secret-path")
    assert connect_signer(right).sign_text(b"x") == KeySigner(MEMBER_KEY).sign_text(b"x")

    with pytest.raises(InvalidInputError) as refused:
        connect_signer(wrong)
    server.status = 500
    with pytest.raises(InvalidInputError) as _:
        connect_signer(wrong)

    shown = f"{refused.value.as_dict()} {wrong!r} {right!r} {refused.value.__cause__!r}"
    assert refused.value.code == "signer_refused"
    assert all(word not in shown for word in ("hidden-word", "secret-path", "p%40ss", "p@ss"))


@pytest.mark.parametrize("url", ["http://10.0.0.7:9000", "http://signer.example", "http://0.0.0.0:9000"])
def test_url_when_plain_http_to_another_machine_then_only_if_allowed(url: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        SignerEndpoint(url=url)

    assert caught.value.exit_code == 3
    assert "SWARM_SIGNER_PLAIN_HTTP" in caught.value.fix
    assert SignerEndpoint(url=url, plain_http=True).url == url


@pytest.mark.parametrize("url", ["", "signer:9000", "ftp://127.0.0.1", "http://"])
def test_url_when_it_is_none_then_refused(url: str) -> None:
    with pytest.raises(InvalidInputError):
        SignerEndpoint(url=url)


@pytest.mark.parametrize(
    "url", ["http://localhost:9000", "http://[::1]:9000", "http://127.3.2.1", "https://far.example"]
)
def test_url_when_on_this_machine_or_encrypted_then_taken(url: str) -> None:
    assert SignerEndpoint(url=url).url == url


def _payment() -> ContractCall:
    return ContractCall(contract="SwarmToken", function="transfer", args=(BOB, 0))
