"""Fixtures every test may ask for."""

pytest_plugins = ("tests.chain_fixtures", "tests.ray_cluster")
