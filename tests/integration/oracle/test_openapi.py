"""What the OpenAPI document promises, asked of every route: whatever comes in, no crash, and every answer fits its schema."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import CheckContext, CheckFunction
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from swarm_chain.core.encoding import keccak, words
from tests.member_world import MemberWorld

EXAMPLES = 12
Operation = schemathesis.APIOperation[Any, Any, Any, Any]
AnyCase = schemathesis.Case[Any]


def only_503(_context: CheckContext, response: schemathesis.Response, _case: AnyCase) -> None:
    """503 says "not now"; every other 5xx is a fault of ours."""
    assert response.status_code < 500 or response.status_code == 503, response.text


CHECKS: list[CheckFunction] = [
    only_503,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def busy_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemberWorld]:
    """A member with an open and a drawn window, so that its lists are not empty."""
    folder: Path = tmp_path_factory.mktemp("member")
    world = MemberWorld(folder)
    drawn = world.open(0)
    world.open(1)
    world.close(drawn, keccak(words(drawn)))
    world.draw(drawn)
    yield world
    world.close_down()


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_route_when_anything_is_sent_then_it_answers_as_documented(
    busy_world: MemberWorld, mode: GenerationMode
) -> None:
    document = schemathesis.openapi.from_asgi("/openapi.json", busy_world.app)
    found = document.get_all_operations()
    operations = [one.ok() for one in found if isinstance(one, Ok)]
    if mode is GenerationMode.NEGATIVE:  # what takes nothing cannot be given anything wrong
        operations = [one for one in operations if any(one.iter_parameters()) or one.body.items]
    assert len(operations) > 10
    for operation in operations:
        _answers_as_documented(operation, busy_world, mode)


def _answers_as_documented(operation: Operation, world: MemberWorld, mode: GenerationMode) -> None:
    @settings(
        max_examples=EXAMPLES, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        world.clock.sleep(5)  # or the rate limit would answer most
        case.validate_response(case.call(), checks=CHECKS)

    ask()
