"""The client from Python: one key, a real chain, a gateway that does what its document says."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from swarm_chain.adapters.connection import connect_chain
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.client import JobClient, connect_jobs, read_spec_file
from swarm_chain.client.spec_files import InputFile
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import JobState
from swarm_chain.core.signing import domain_separator
from swarm_chain.core.units import WEI_PER_SWM, Wei
from tests.chain_fixtures import ChainTools
from tests.integration.cli.gateway_shelf import GatewayShelf, serving

EXAMPLE = Path(__file__).parents[2] / "examples" / "train.yaml"
ALICE = KeySigner(keccak(b"alice"))


@pytest.fixture
def gateway(tools: ChainTools) -> Iterator[GatewayShelf]:
    """An honest gateway."""
    domain = domain_separator(tools.net.deployment.chain_id, tools.address("ChallengeBeacon"))
    with serving(GatewayShelf(tools=tools, key=KeySigner(keccak(b"gateway")), domain=domain)) as shelf:
        yield shelf


@pytest.fixture
def client(tools: ChainTools, gateway: GatewayShelf) -> JobClient:
    """Alice's, with 100 SWM."""
    tools.fund(ALICE.address, swm=100)
    connection = connect_chain([tools.net.rpc_url], tools.net.deployment)
    return connect_jobs(connection, tools.net.deployment, ALICE, gateway_url=gateway.url)


def test_job_when_submitted_followed_and_cancelled_then_pays_once_and_returns(
    client: JobClient, tools: ChainTools, gateway: GatewayShelf
) -> None:
    file = read_spec_file(EXAMPLE)
    gateway.log = ["one\n", "two\n"]
    first = client.submit(file.spec, Wei(10 * WEI_PER_SWM), file.inputs)
    second = client.submit(file.spec, Wei(10 * WEI_PER_SWM), file.inputs)
    text = "".join(piece.text for piece in client.logs(first.job_id, follow=True))
    client.cancel(first.job_id)
    third = client.submit(file.spec, Wei(10 * WEI_PER_SWM), file.inputs)

    assert (first.posted, second.posted, second.job_id) == (True, False, first.job_id)
    assert text == "one\ntwo\n"
    assert client.explain(first.job_id).state is JobState.CANCELLED
    assert (third.posted, third.job_id) == (True, 2)  # one that came back may be tried again
    assert tools.call("SwarmToken", "balanceOf", ALICE.address) == 95 * WEI_PER_SWM


def test_inputs_when_the_gateway_cannot_plan_without_them_then_are_sent_first(
    client: JobClient, gateway: GatewayShelf, tmp_path: Path
) -> None:
    (tmp_path / "data.npz").write_bytes(b"rows")
    file = InputFile(path=tmp_path / "data.npz", content_hash=keccak(b"rows"))
    spec = replace(read_spec_file(EXAMPLE).spec, inputs=(to_hex(file.content_hash),))
    cheap = client.plan(spec, (file,))
    sent_at_first = dict(gateway.blobs)
    gateway.plan_needs_inputs = True
    with pytest.raises(InvalidInputError, match="an input is not here"):
        client.plan(spec)
    known = client.plan(spec, (file,))

    assert sent_at_first == {}
    assert gateway.blobs == {to_hex(keccak(b"rows")): b"rows"}
    assert known.price_wei == cheap.price_wei == gateway.price_wei


def test_input_when_uploaded_then_is_kept_under_its_hash(client: JobClient, gateway: GatewayShelf) -> None:
    assert gateway.blobs[to_hex(client.upload_input(b"data"))] == b"data"
