"""A plan for unit tests: every role held by a key of its own."""

from swarm_chain.core.units import BlockNumber, Timestamp
from swarm_chain.deploy import DeploymentPlan, Origin, Roles, plan_deployment
from swarm_chain.params import load_params
from swarm_chain.testing import FakeSigner

ORIGIN = Origin(
    deployer=FakeSigner("deployer").address,
    first_nonce=0,
    chain_id=31337,
    block=BlockNumber(1),
    genesis_at=Timestamp(1_700_000_000),
)


def separate_roles(members: int) -> Roles:
    """Roles without a shared key."""
    owner, guardian, veto, proposer = (FakeSigner(name).address for name in ("owner", "guardian", "veto", "proposer"))
    seats = tuple(FakeSigner(f"member {index}").address for index in range(members))
    return Roles(owner=owner, members=seats, guardian=guardian, veto=veto, proposers=(proposer,))


def plan_of(preset: str) -> DeploymentPlan:
    """Plan of a shipped preset."""
    params = load_params(preset)
    return plan_deployment(params, separate_roles(params.governance.members), ORIGIN)
