"""Deployment of all contracts: the plan, its execution, its check on the chain, and the file that names the addresses.

roles, params, origin --plan_deployment--> DeploymentPlan --run_plan--> chain --verify_plan--> every fact compared, or a refusal
                                                 '--save_plan--> file --load_plan--^
"""

from swarm_chain.deploy.files import load_deployment, load_plan, save_deployment, save_plan
from swarm_chain.deploy.plan import DeploymentPlan, Origin, plan_deployment
from swarm_chain.deploy.roles import TRIAL_PRESETS, Roles, check_separation
from swarm_chain.deploy.run import deploy, read_origin, run_plan
from swarm_chain.deploy.verify import compare, differing, verify_plan
from swarm_chain.deploy.words import plan_document

__all__ = [
    "TRIAL_PRESETS",
    "DeploymentPlan",
    "Origin",
    "Roles",
    "check_separation",
    "compare",
    "deploy",
    "differing",
    "load_deployment",
    "load_plan",
    "plan_deployment",
    "plan_document",
    "read_origin",
    "run_plan",
    "save_deployment",
    "save_plan",
    "verify_plan",
]
