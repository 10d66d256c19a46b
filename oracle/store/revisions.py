"""Which revision of the schema a database has, without changing it."""

from importlib.resources import files

from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection


def revisions(connection: Connection) -> tuple[str | None, str, tuple[str, ...]]:
    """Revision of a database, the newest one, and all there are.

    Args:
        connection: to the database; only read.

    Returns:
        None as the first one where no migration has run.
    """
    config = Config()
    config.set_main_option("script_location", str(files("oracle.store") / "migrations"))
    scripts = ScriptDirectory.from_config(config)
    have = MigrationContext.configure(connection).get_current_revision()
    return have, str(scripts.get_current_head()), tuple(script.revision for script in scripts.walk_revisions())
