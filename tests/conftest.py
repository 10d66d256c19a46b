"""Fixtures every test may ask for."""

pytest_plugins = ("tests.chain_fixtures", "tests.databases", "tests.ray_cluster", "tests.secrets_guard")
