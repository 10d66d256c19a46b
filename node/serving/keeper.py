"""Takes an application off the cluster when the process it was started for is gone: Ray Serve's own outlive their starter.

driver --owns--> Alive (dies with its owner)     Keeper, detached --calls--> Alive: gone? delete the application and end
"""

import time
from typing import Any

LOOK_EVERY_S = 1.0


class Alive:
    """An actor of the driver's: while it answers, the driver is there."""

    def ping(self) -> bool:
        """Answers."""
        return True


class Keeper:
    """A detached actor that outlives the driver by seconds."""

    def watch(self, alive: Any, name: str) -> None:
        """Returns after the application of a driver that is gone was deleted, and ends this actor."""
        import ray
        from ray import serve

        while True:
            try:
                ray.get(alive.ping.remote())
                time.sleep(LOOK_EVERY_S)
            except ray.exceptions.RayActorError:
                break
        if name in serve.status().applications:
            serve.delete(name)
        ray.actor.exit_actor()  # type: ignore[no-untyped-call]  # Ray has no types for it


def keep(name: str) -> Any:
    """Has an application deleted once this process is gone.

    Args:
        name: of the application.

    Returns:
        What has to be held as long as the application shall stay.
    """
    import ray

    alive: Any = ray.remote(Alive).options(num_cpus=0).remote()
    keeper: Any = ray.remote(Keeper).options(num_cpus=0, lifetime="detached", name=f"keeper-{name}").remote()
    keeper.watch.remote(alive, name)
    return alive
