"""Shipped fakes of the ports; they pass the same contract suite as the real adapters."""

from swarm_chain.testing.chain import FakeChain, FakeWriter
from swarm_chain.testing.fakes import FakeClock, FakeSigner
from swarm_chain.testing.program import FakeProgram, reject

__all__ = ["FakeChain", "FakeClock", "FakeProgram", "FakeSigner", "FakeWriter", "reject"]
