"""What dead runs of this process still reserve in Ray, given back.

Ray gives a placement group back once both the actor and the job that made it are gone. All that an agent starts is one job
of Ray's, and that lives on; Ray Train's own cleaner asks the dashboard, which we do not run.
"""

from typing import Any


def give_back_reservations() -> int:
    """Removes the placement groups whose actors are dead, of those that this process' job of Ray made; gives their number."""
    import ray
    from ray.core.generated import gcs_pb2
    from ray.util.placement_group import PlacementGroup, remove_placement_group

    own = ray.get_runtime_context().get_job_id()
    # The public table does not say who made a group.
    state: Any = ray._private.state.state
    table: Any = gcs_pb2.PlacementGroupTableData  # type: ignore[attr-defined]  # generated, without types
    groups = map(table.FromString, state._connect_and_get_accessor().get_placement_group_table())
    orphans = [
        group.placement_group_id
        for group in groups
        if group.creator_job_id.hex() == own
        and group.creator_actor_id  # empty: a task made it, and nobody knows whether that lives
        and group.creator_actor_dead
        and group.state != table.REMOVED
    ]
    for orphan in orphans:
        remove_placement_group(PlacementGroup(ray.PlacementGroupID(orphan)))
    return len(orphans)
