"""Stand-ins for the machine under a node, shipped so that whoever builds on the ports can test without a GPU."""

from dataclasses import dataclass

from node.inventory import Gpu, GpuErrors, GpuFacts, GpuProcess
from swarm_chain.core.errors import UnavailableError


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedGpus:
    """GpuReader on values that were written down; a GPU with a `fault` tells its facts and then no longer answers.

    `away` is why the driver itself does not answer, empty if it does.
    """

    gpus: tuple[Gpu, ...] = ()
    version: str = "580.95.05"
    away: str = ""

    def driver(self) -> str:
        """Version of the driver."""
        if self.away:
            raise UnavailableError(self.away)
        return self.version

    def count(self) -> int:
        """Number of GPUs."""
        return len(self.gpus)

    def facts(self, index: int) -> GpuFacts:
        """Name, identity and size of a GPU."""
        return self.gpus[index].facts

    def errors(self, index: int) -> GpuErrors:
        """Error counters of a GPU."""
        if self.gpus[index].fault:
            raise UnavailableError(self.gpus[index].fault)
        return self.gpus[index].errors

    def processes(self, index: int) -> tuple[GpuProcess, ...]:
        """Processes that compute on a GPU."""
        return self.gpus[index].processes
