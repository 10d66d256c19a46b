"""The long fault campaign: a committee of seven on a real chain, killed at random, for twenty epochs. `make soak`.

The last line is one JSON object with the figures; the exit status is 0 only if every one of them is what it must be.
"""

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

from swarm_chain.adapters.rpc import Web3Reader
from swarm_chain.devnet import start_devnet
from swarm_chain.params import load_params
from tests.chain_fixtures import ChainTools
from tests.soak.campaign import Campaign, Plan

PLAN = Plan(epochs=20, kills=100, members=7, quorum=5, nodes=2, seed=20_260_101)


def main() -> int:
    """Runs the campaign; gives the exit status."""
    started = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="swarm-soak-"))
    with start_devnet(load_params("minimal")) as net:
        net.automine(True)
        tools = ChainTools(net=net, reader=Web3Reader(net.rpc_url, net.deployment))
        campaign = Campaign.founded(tools, folder, PLAN)
        try:
            campaign.run()
            figures = campaign.figures()
        finally:
            campaign.close()
    figures["seconds"] = round(time.monotonic() - started)
    if figures["faults"]:
        sys.stderr.write(f"logs and databases of the members: {folder}\n")
    else:
        shutil.rmtree(folder)
    sys.stdout.write(json.dumps(figures) + "\n")
    return 0 if not figures["faults"] else 1


if __name__ == "__main__":
    sys.exit(main())
