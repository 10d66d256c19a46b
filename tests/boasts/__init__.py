"""Liars for the demo and the tests, one a module: each has the interface of what it replaces."""
