"""How jobs look: documents for programs, tables for people."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from swarm_chain.cli.output import View, facts, swm, table
from swarm_chain.cli.views import transaction_document, when
from swarm_chain.client.model import ChainJob, JobStatus, Offer, Plan, Refund, Submitted
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.units import ZERO_ADDRESS


def camel(value: Any) -> Any:
    """A dataclass as a document with names as JSON has them."""
    if is_dataclass(value) and not isinstance(value, type):
        return {_camel(field.name): camel(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [camel(item) for item in value]
    return value


def plan_document(plan: Plan, offer: Offer, refunds: Sequence[Refund]) -> dict[str, Any]:
    """A plan, what would be offered, and what comes back when."""
    document: dict[str, Any] = camel(plan)
    return document | {
        "budgetWei": offer.budget_wei,
        "acceptFor": offer.accept_for,
        "runFor": offer.run_for,
        "refunds": camel(refunds),
    }


def plan_views(plan: Plan, offer: Offer) -> list[View]:
    """A plan for a person."""
    if plan.missing:
        return [table("missing", ("what no node has",), [(text,) for text in plan.missing])]
    nodes = [(node.node, node.provider_id, swm(node.price_wei)) for node in plan.nodes]
    return [
        facts(
            "plan",
            {
                "price": swm(plan.price_wei),
                "budget": swm(offer.budget_wei),
                "time": f"{plan.seconds} device-seconds",
                "nodes": len(nodes),
            },
        ),
        table("nodes, in the order they are asked", ("node", ">provider", ">price"), nodes),
    ]


def refund_view(refunds: Sequence[Refund]) -> View:
    """What comes back when, for a person."""
    rows = [(refund.case, refund.when, swm(refund.returned_wei)) for refund in refunds]
    return table("what comes back", ("if", "when", ">returned"), rows)


def submitted_document(submitted: Submitted, refunds: Sequence[Refund]) -> dict[str, Any]:
    """What `submit` did."""
    document = {
        "jobId": submitted.job_id,
        "posted": submitted.posted,
        "specHash": submitted.spec_hash,
        "budgetWei": submitted.budget_wei,
        "gateway": submitted.gateway,
    }
    if submitted.outcome is None:
        return document
    return document | {"refunds": camel(refunds), "transaction": transaction_document(submitted.outcome)}


def status_document(status: JobStatus) -> dict[str, Any]:
    """The chain's record, and what gateway and oracle say; null with the reason where they say nothing."""
    document: dict[str, Any] = camel(status.job)
    return document | {
        "gateway": camel(status.gateway),
        "gatewaySilent": status.gateway_silent,
        "judgement": status.judgement,
        "unknownBecause": status.judgement_silent,
    }


def status_view(status: JobStatus) -> View:
    """Where a job is, for a person."""
    job, judgement = status.job, status.judgement or {}
    return facts(
        f"job {job.job_id}",
        {
            "state": job.state.name.lower(),
            "kind": job.kind.name.lower(),
            "budget": swm(job.budget_wei),
            "provider": job.provider_id or "-",
            "node": "-" if job.node == ZERO_ADDRESS else job.node,
            "units": _units(status),
            "accept by": when(job.accept_by),
            "complete by": when(job.complete_by),
            "judge by": when(job.judge_by),
            "receipt": to_hex(job.receipt_digest),
            "verdict": judgement.get("verdict") or f"unknown ({status.judgement_silent or 'not judged yet'})",
        },
    )


def list_view(jobs: Sequence[ChainJob]) -> View:
    """Jobs for a person."""
    rows = [
        (job.job_id, job.kind.name.lower(), job.state.name.lower(), swm(job.budget_wei), job.customer) for job in jobs
    ]
    return table("jobs", (">id", "kind", "state", ">budget", "customer"), rows)


def results_document(results: Any) -> dict[str, Any]:
    """Where the files are; `file` is the last content."""
    document: Mapping[str, Any] = camel(results)
    kept = ("jobId", "contents", "of", "source", "receipt", "refused")
    return {name: document[name] for name in kept} | {
        "folder": str(results.folder),
        "file": str(results.last),
        "bytes": results.size,
    }


def _units(status: JobStatus) -> str:
    word = status.gateway
    if word is None:
        return f"unknown ({status.gateway_silent})"
    return "unknown" if word.units is None else f"{word.units_done or 0} of {word.units}"


def _camel(name: str) -> str:
    return re.sub("_([a-z])", lambda found: found.group(1).upper(), name)
