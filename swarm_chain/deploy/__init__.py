"""Deployment of all contracts: the plan, its execution, its check on the chain, and the file that names the addresses."""

from swarm_chain.deploy.files import load_deployment, save_deployment
from swarm_chain.deploy.plan import DeploymentPlan, Origin, Roles, plan_deployment
from swarm_chain.deploy.run import deploy, read_origin, run_plan, verify_plan

__all__ = [
    "DeploymentPlan",
    "Origin",
    "Roles",
    "deploy",
    "load_deployment",
    "plan_deployment",
    "read_origin",
    "run_plan",
    "save_deployment",
    "verify_plan",
]
