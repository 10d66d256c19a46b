"""Bandwidth, from the member's payload over its HTTP and back to the observation: a real line is paid, everything else is not."""

from collections.abc import Iterator

import pytest

from node.audits.network import MeasuredLine
from node.ports import AuditQuestion
from oracle.pipeline.transfers import Seats
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import InconsistentError, InvalidInputError, UnavailableError
from swarm_chain.core.network import BLOCK_BYTES, payload_blocks
from swarm_chain.core.units import Address, Hash32
from tests.boasts.network import BoastedLine
from tests.member_world import ALICE, BOB, MemberWorld
from tests.network_world import (
    CLAIM_MBPS,
    PARAMS,
    Cached,
    Guessed,
    Hasty,
    Line,
    Silent,
    Tamper,
    begin,
    line_of,
    measured,
    play,
    throwing,
)

SIZE = payload_blocks(PARAMS, CLAIM_MBPS) * BLOCK_BYTES
AUDIT, OTHER = keccak(b"audit"), keccak(b"other")


@pytest.fixture
def member(world: MemberWorld) -> MemberWorld:
    """A member whose epoch has begun."""
    begin(throwing(world))
    return world


def test_line_when_faster_than_claimed_both_ways_then_the_claim_is_measured(member: MemberWorld) -> None:
    assert play(member, line_of(Line(world=member))) == (CLAIM_MBPS, "")
    assert measured(member.member, member) == {ALICE.address: CLAIM_MBPS}


def test_line_when_one_way_is_slower_than_claimed_then_that_way_counts(member: MemberWorld) -> None:
    for number, (down_mbps, up_mbps) in enumerate([(4, 100), (100, 4)], start=1):
        line = Line(world=member, down_mbps=down_mbps, up_mbps=up_mbps)
        assert play(member, line_of(line), number) == (4, "")


def test_line_when_ten_times_slower_than_claimed_then_nothing(member: MemberWorld) -> None:
    for number, (down_mbps, up_mbps) in enumerate([(1, 100), (100, 1)], start=1):
        line = Line(world=member, down_mbps=down_mbps, up_mbps=up_mbps)
        assert play(member, line_of(line), number) == (0, "too_late")


def test_boast_when_ten_times_is_claimed_and_nothing_downloaded_then_nothing(member: MemberWorld) -> None:
    boasted = BoastedLine(line_of(Line(world=member)), PARAMS.most_mbps)

    assert play(member, boasted) == (0, "no_download")


def test_payload_when_not_downloaded_then_a_guess_is_nothing(member: MemberWorld) -> None:
    assert play(member, line_of(Line(world=member), Guessed)) == (0, "not_fetched")


def test_payload_when_of_an_earlier_audit_then_it_opens_nothing(member: MemberWorld) -> None:
    line = Line(world=member)
    cached = line_of(line, Cached)
    first = play(member, cached)  # never sent back, so nothing is judged yet
    second = play(member, cached, 2)

    assert (first, second) == ((0, ""), (0, ""))
    assert len(line.downloads) == 1
    assert measured(member.member, member) == {ALICE.address: 0}


def test_payload_when_of_two_audits_then_it_has_nothing_in_common(member: MemberWorld) -> None:
    line = Line(world=member)
    for number in (1, 2):
        assert play(member, line_of(line), number) == (CLAIM_MBPS, "")
    first, second = line.downloads

    blocks = {line[at : at + BLOCK_BYTES] for line in (first, second) for at in range(0, SIZE, BLOCK_BYTES)}
    assert len(blocks) == 2 * SIZE // BLOCK_BYTES


def test_upload_when_it_never_comes_then_words_about_it_are_nothing(member: MemberWorld) -> None:
    assert play(member, line_of(Line(world=member), Silent)) == (0, "no_upload")


def test_upload_when_in_the_order_of_another_draw_then_nothing(member: MemberWorld) -> None:
    assert play(member, line_of(Line(world=member), Hasty)) == (0, "wrong_bytes")


def test_upload_when_of_other_bytes_then_nothing(member: MemberWorld) -> None:
    tampers: list[Tamper] = [
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),
        lambda content: content[:-1],
        lambda content: content + b"\0",
        lambda _content: b"",
        lambda content: bytes(len(content)),
    ]
    for number, tamper in enumerate(tampers, start=1):
        assert play(member, line_of(Line(world=member, tamper=tamper)), number) == (0, "wrong_bytes")


def test_upload_when_the_line_broke_then_the_next_try_counts_and_the_clock_ran_on(member: MemberWorld) -> None:
    class Breaks(Line):
        """Breaks once after as many bytes as would have been enough."""

        tries = 0

        def upload(self, audit_id: Hash32, pieces: Iterator[bytes], size: int) -> None:
            Breaks.tries += 1
            if Breaks.tries == 1:
                self._pass(size, self.up_mbps)
                raise UnavailableError("broken", code="line_broken")
            super().upload(audit_id, pieces, size)

    line = Breaks(world=member, up_mbps=CLAIM_MBPS)

    assert play(member, line_of(line), tries=2) == (CLAIM_MBPS // 2, "")
    assert len(line.downloads) == 1, "what was fetched is kept for the next try"


def test_payload_when_another_knows_no_id_then_there_is_none(member: MemberWorld) -> None:
    for path in ("payload", "upload"):
        ask = member.client.get if path == "payload" else member.client.post
        answer = ask(f"/v1/audits/{to_hex(AUDIT)}/{path}")
        assert (answer.status_code, answer.json()["error"]) == (404, "unknown_audit")


def test_upload_when_the_audit_was_not_answered_then_refused_before_a_byte_is_looked_at(member: MemberWorld) -> None:
    class Early(MeasuredLine):
        """Tries to send before it has answered."""

        code = ""

        def answer(self, question: AuditQuestion) -> Hash32:
            root = super().answer(question)
            answer = member.client.post(f"/v1/audits/{to_hex(question.audit_id)}/upload", content=bytes(SIZE))
            Early.code = str(answer.json()["error"])
            return root

    assert play(member, line_of(Line(world=member), Early)) == (CLAIM_MBPS, "")
    assert Early.code == "no_draw"


def test_upload_when_done_twice_then_the_second_is_refused(member: MemberWorld) -> None:
    class Twice(Line):
        """Sends everything two times."""

        def upload(self, audit_id: Hash32, pieces: Iterator[bytes], size: int) -> None:
            content = b"".join(pieces)
            for _ in range(2):
                super().upload(audit_id, iter([content]), size)

    assert play(member, line_of(Twice(world=member))) == (CLAIM_MBPS, "")


def test_claim_when_out_of_bounds_then_nobody_takes_it(member: MemberWorld) -> None:
    for number, claim_mbps in enumerate([PARAMS.least_mbps - 1, PARAMS.most_mbps + 1, 2**40], start=1):
        with pytest.raises(InvalidInputError, match="cannot be claimed"):
            line_of(Line(world=member), claim_mbps=claim_mbps)

        class Claims(BoastedLine):
            """What nobody can claim."""

            def claim(self, _member: Address) -> int:
                return claim_mbps  # noqa: B023  # used at once

        assert play(member, Claims(line_of(Line(world=member)), claim_mbps), number) == (0, "claim")


def test_payload_when_the_member_sends_more_or_less_than_asked_then_the_node_refuses(member: MemberWorld) -> None:
    question = AuditQuestion(audit_id=AUDIT, member=ALICE.address, device=0, claim=CLAIM_MBPS, nonce=keccak(b"nonce"))
    for size in (SIZE - 1, SIZE + 1):

        class Wrong(Line):
            """Another size."""

            def download(self, _audit_id: Hash32) -> object:  # type: ignore[override]
                return iter([bytes(size)])  # noqa: B023  # used at once

        with pytest.raises(UnavailableError, match="another size"):
            line_of(Wrong(world=member)).answer(question)


def test_openings_when_of_another_audit_then_the_node_has_nothing_to_send(member: MemberWorld) -> None:
    question = AuditQuestion(audit_id=AUDIT, member=BOB.address, device=0, claim=CLAIM_MBPS, nonce=keccak(b"nonce"))

    with pytest.raises(InconsistentError, match="no payload"):
        line_of(Line(world=member)).openings(question, keccak(b"draw"))


def test_seats_when_all_are_taken_then_busy_until_one_is_free_or_lapses() -> None:
    now = [0]
    seats = Seats(1, 100, lambda: now[0])
    seats.take(AUDIT)

    with pytest.raises(UnavailableError):
        seats.take(OTHER)
    with pytest.raises(UnavailableError):
        seats.take(AUDIT)  # it is being sent: a second stream would only take the line
    seats.sent(AUDIT)
    seats.take(AUDIT)
    seats.give_back(AUDIT)
    seats.take(OTHER)
    now[0] = 100
    seats.take(AUDIT)


def test_member_when_its_line_is_in_use_then_the_node_is_asked_to_come_again(member: MemberWorld) -> None:
    slow = line_of(Line(world=member), Silent)
    for number, key in ((1, ALICE), (2, BOB)):
        play(member, slow, number, key)

    assert play(member, line_of(Line(world=member)), 3) == (0, "line_busy")
