"""A chain for playing and testing."""

from swarm_chain.devnet.chain import Devnet, attach_devnet, dev_accounts, start_devnet, stop_devnet

__all__ = ["Devnet", "attach_devnet", "dev_accounts", "start_devnet", "stop_devnet"]
