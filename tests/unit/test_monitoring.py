"""Alerts, dashboard and unit file fit the program: every metric they name exists, every alert has its runbook."""

import configparser
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from oracle.pipeline.metrics import Metrics

ROOT = Path(__file__).resolve().parents[2]
DEPLOY, RUNBOOKS = ROOT / "deploy", ROOT / "docs" / "runbooks"
OF_PROMETHEUS = {"up", "ALERTS"}  # series that Prometheus makes itself
FUNCTIONS = {"time", "changes", "increase", "rate", "sum", "min", "max", "count", "histogram_quantile"}
KEYWORDS = {"by", "and", "or", "unless", "on", "ignoring"}
SECTIONS = ("## What it means", "## What to check", "## What to do")


def alerts() -> list[dict[str, Any]]:
    """Every alert rule."""
    document = yaml.safe_load((DEPLOY / "prometheus" / "rules.yml").read_text(encoding="utf-8"))
    return [rule for group in document["groups"] for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    """Every panel of the dashboard."""
    document: dict[str, Any] = json.loads((DEPLOY / "grafana" / "swarm-oracle.json").read_text(encoding="utf-8"))
    return list(document["panels"])


def series() -> set[str]:
    """Every series a member shows."""
    found: set[str] = set()
    for metric in Metrics().registry.collect():
        suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}.get(metric.type, ("",))
        found |= {metric.name + suffix for suffix in suffixes}
    return found


def named_in(expression: str) -> set[str]:
    """Names of the series in a PromQL expression: what is left without labels, ranges, groupings, functions, keywords."""
    bare = re.sub(r"\{[^}]*\}|\[[^]]*\]|\bby \([^)]*\)", " ", expression)
    return set(re.findall(r"[a-zA-Z_:][a-zA-Z0-9_:]*", re.sub(r"\b\d[\d.e]*\b", " ", bare))) - FUNCTIONS - KEYWORDS


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: str(alert["alert"]))
def test_alert_when_read_then_its_metrics_exist_and_it_says_what_to_do(alert: dict[str, Any]) -> None:
    assert named_in(alert["expr"])
    assert named_in(alert["expr"]) <= series() | OF_PROMETHEUS
    assert alert["labels"]["severity"] in {"critical", "warning"}
    assert alert["annotations"].keys() == {"summary", "description", "runbook_url"}
    runbook = ROOT / alert["annotations"]["runbook_url"]
    text = runbook.read_text(encoding="utf-8")
    assert runbook.parent == RUNBOOKS
    assert text.startswith(f"# {alert['alert']}\n")
    assert all(section in text for section in SECTIONS)
    assert alert["expr"] in text, "the runbook quotes the rule as it is"


def test_runbooks_when_listed_then_each_belongs_to_one_alert() -> None:
    linked = [alert["annotations"]["runbook_url"] for alert in alerts()]

    assert sorted(linked) == sorted(str(path.relative_to(ROOT)) for path in RUNBOOKS.iterdir())


def test_runbooks_when_they_name_a_metric_then_it_exists() -> None:
    named = {name for path in RUNBOOKS.iterdir() for name in re.findall(r"swarm_[a-z_]+", path.read_text("utf-8"))}

    assert named <= series()


@pytest.mark.parametrize("panel", panels(), ids=lambda panel: str(panel["title"]))
def test_panel_when_read_then_its_metrics_exist(panel: dict[str, Any]) -> None:
    expressions = [target["expr"] for target in panel["targets"]]

    assert expressions
    for expression in expressions:
        assert named_in(expression)
        assert named_in(expression) <= series() | OF_PROMETHEUS


def test_metrics_when_a_member_shows_one_then_an_alert_or_a_panel_uses_it() -> None:
    expressions = [alert["expr"] for alert in alerts()]
    expressions += [target["expr"] for panel in panels() for target in panel["targets"]]
    used = {name for expression in expressions for name in named_in(expression)}
    shown = {name for name in series() if not name.endswith(("_count", "_sum"))}

    assert shown - used <= {"swarm_epoch_end_seconds"}


def test_alert_tests_when_read_then_every_alert_is_tested_firing_and_silent() -> None:
    document = yaml.safe_load((DEPLOY / "prometheus" / "tests.yml").read_text(encoding="utf-8"))
    names = {alert["alert"] for alert in alerts()}
    silent = {one["alertname"] for test in document["tests"] for one in test.get("alert_rule_test", [])}
    firing = {
        name
        for test in document["tests"]
        for one in test.get("promql_expr_test", [])
        for name in re.findall(r'alertname="(\w+)"', one["expr"])
        if one["exp_samples"]
    }

    assert silent == names
    assert firing == names


def test_unit_file_when_read_then_hardened_and_secrets_are_credentials() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.read(DEPLOY / "systemd" / "swarm-oracle.service", encoding="utf-8")
    service = unit["Service"]

    assert service["NoNewPrivileges"] == "yes"
    assert service["ProtectSystem"] == "strict"
    assert service["StateDirectory"] == "swarm-oracle"
    assert service["CapabilityBoundingSet"] == ""
    assert service["User"] != "root"
    assert "70" in service["RestartPreventExitStatus"].split()
    assert "SWARM_KEYSTORE=%d/key" in service["Environment"]
    assert int(service["LimitNOFILE"]) >= 8_192
