"""A node that computes honestly and lies in everything else it claims, each category in its own way."""

from collections.abc import Mapping
from dataclasses import replace

from node.audits.storage import HeldStorage
from node.audits.training import TrainingClaim
from node.config import NodeSettings
from node.main import Parts, node_deployment
from node.oracle_client import JsonHttp
from node.ports import Auditee
from node.serving.offers import HttpOracleOffers, Serving
from swarm_chain.core.kinds import Category
from swarm_chain.core.params import Params
from swarm_chain.core.units import Address
from swarm_chain.params import load_params
from tests.boasts.memory import EmptyMemory
from tests.boasts.network import BoastedLine
from tests.boasts.serving import CannedEndpoint
from tests.boasts.storage import EmptyStorage
from tests.boasts.training import HalfTrainee


def boasting(settings: NodeSettings, parts: Parts) -> Parts:
    """Parts of a node with a lie in the place of every claim it was set to make.

    Args:
        settings: as the operator made them.
        parts: the honest ones, without an endpoint: none is started for a liar.
    """
    params = load_params(node_deployment(settings).params)
    node = parts.signer.address
    lies = {category: _lie(category, auditee, settings, params, node) for category, auditee in parts.auditees.items()}
    return replace(parts, auditees=lies, serving=_canned(settings) if settings.serving_rate else None)


def _lie(category: Category, auditee: Auditee, settings: NodeSettings, params: Params, node: Address) -> Auditee:
    if isinstance(auditee, HeldStorage):
        return EmptyStorage(auditee, settings.volumes_folder)
    folder = settings.folder / "training"
    claim = TrainingClaim(node=node, rate=settings.training_rate, params=params.training, folder=folder)
    lies: Mapping[Category, Auditee] = {
        Category.MEMORY: EmptyMemory(auditee),
        Category.NETWORK: BoastedLine(auditee, params.network.most_mbps),
        Category.TRAINING: HalfTrainee(claim) if category is Category.TRAINING else auditee,
    }
    return lies[category]


def _canned(settings: NodeSettings) -> Serving:
    endpoint = CannedEndpoint()
    members = {url: HttpOracleOffers(JsonHttp(url)) for url in settings.oracle_urls}
    url = f"http://127.0.0.1:{endpoint.port}"
    return Serving(endpoint=endpoint, url=url, rate=settings.serving_rate, members=members)
