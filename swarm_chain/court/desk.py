"""Reads of the court through a ChainReader; the view is folded from events and grows with the chain."""

from typing import Any

from swarm_chain.core.model import ContractCall, Deployment
from swarm_chain.core.units import Address, Hash32, ProviderId, Wei
from swarm_chain.court.fold import advance_view
from swarm_chain.court.model import CONTRACT, CourtView
from swarm_chain.ports import ChainReader


class CourtDesk:
    """What the chain says of the court.

    Args:
        reader: reads of the chain.
        deployment: where the contracts are, and from which block on.
    """

    def __init__(self, reader: ChainReader, deployment: Deployment) -> None:
        self.deployment = deployment
        self._reader = reader
        self._view = CourtView()
        self._accuse_for: int | None = None

    def look(self) -> CourtView:
        """The view at the latest block; folded anew where the chain left the branch it was folded on.

        Raises:
            UnavailableError: no endpoint answers, or the chain moved while it was read.
        """
        head, last = self._reader.block("latest"), self._view.chain.block
        known = last.number >= 0
        if known and (head.number < last.number or self._reader.block(last.number).hash != last.hash):
            self._view, known = CourtView(), False
        first = last.number + 1 if known else self.deployment.block
        if first <= head.number:
            self._view = advance_view(self._view, self._reader.events(first, head.number), head)
        return self._view

    @property
    def accuse_for(self) -> int:
        """Seconds after a window closed within which its commitments can be accused."""
        if self._accuse_for is None:
            self._accuse_for = int(self._ask(CONTRACT, "params")["accuseFor"])
        return self._accuse_for

    @property
    def address(self) -> Address:
        """Address of the court."""
        return self.deployment.contracts[CONTRACT]

    def bond_of(self, provider_id: ProviderId) -> Wei:
        """Bond of the next accusation against a provider, wei."""
        return Wei(self._ask(CONTRACT, "bondOf", provider_id))

    def is_sealed(self, sealed: Hash32) -> bool:
        """Whether a seal was noted."""
        return bool(self._ask(CONTRACT, "sealedBlock", sealed))

    def may_defend(self, provider_id: ProviderId, who: Address) -> bool:
        """Whether an address may answer for a provider: owner, operator, defender or live node."""
        return bool(self._ask("ProviderRegistry", "mayDefend", provider_id, who))

    def balance_of(self, who: Address) -> Wei:
        """SWM of an address, wei."""
        return Wei(self._ask("SwarmToken", "balanceOf", who))

    def allowance_of(self, who: Address) -> Wei:
        """SWM the court may take from an address, wei."""
        return Wei(self._ask("SwarmToken", "allowance", who, self.address))

    def _ask(self, contract: str, function: str, *args: object) -> Any:
        return self._reader.call(ContractCall(contract=contract, function=function, args=args))
