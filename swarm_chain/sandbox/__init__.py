"""Runs foreign code so that it can do no harm: its own processes, files, network and user, and a lid on what it uses."""
