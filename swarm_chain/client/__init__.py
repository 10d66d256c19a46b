"""The customer's side of jobs, for Python: `connect_jobs` gives a JobClient, `read_spec_file` reads what it submits."""

from swarm_chain.client.connect import connect_jobs
from swarm_chain.client.jobs import JobClient
from swarm_chain.client.offers import Terms
from swarm_chain.client.spec_files import read_spec_file

__all__ = ["JobClient", "Terms", "connect_jobs", "read_spec_file"]
