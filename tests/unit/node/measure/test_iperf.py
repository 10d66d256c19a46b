"""iperf3's report becomes integers or an error.

`iperf3-3.12.json` was printed by Debian's iperf 3.12 over loopback (the name of the system is cut); the other document is
written after the documented format.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from node.measure.iperf import IperfReport, parse_iperf3
from swarm_chain.core.errors import InvalidInputError

DOCUMENT: dict[str, Any] = {
    "start": {
        "version": "iperf 3.12",
        "connecting_to": {"host": "192.0.2.1", "port": 5201},
        "test_start": {"protocol": "TCP", "num_streams": 1, "duration": 2, "reverse": 0},
    },
    "intervals": [],
    "end": {
        "sum_sent": {
            "start": 0,
            "end": 2.0001,
            "seconds": 2.0001,
            "bytes": 300_000_000,
            "bits_per_second": 1199940002.9,
        },
        "sum_received": {"start": 0, "end": 2.04, "seconds": 2.04, "bytes": 255_000_000, "bits_per_second": 1e9},
    },
}


def printed(change: Callable[[Any], object] = lambda _document: None) -> str:
    document = json.loads(json.dumps(DOCUMENT))
    change(document)
    return json.dumps(document)


def test_report_when_a_run_went_well_then_what_arrived_counts_and_not_what_was_sent() -> None:
    expected = IperfReport(version="iperf 3.12", received_bytes=255_000_000, elapsed_us=2_040_000, mbps=1000)

    assert parse_iperf3(printed()) == expected


def test_report_when_printed_by_iperf3_itself_then_read() -> None:
    captured = (Path(__file__).parent / "iperf3-3.12.json").read_text()

    assert parse_iperf3(captured) == IperfReport(
        version="iperf 3.12", received_bytes=1735000064, elapsed_us=1000104, mbps=13878
    )


def test_rate_when_it_is_not_whole_then_rounded_down_and_the_programs_own_is_not_asked() -> None:
    def change(document: Any) -> None:
        document["end"]["sum_received"].update(bytes=249_999, seconds=1, bits_per_second=1e12)

    assert parse_iperf3(printed(change)).mbps == 1


def test_time_when_it_is_no_whole_microsecond_then_rounded_up() -> None:
    report = parse_iperf3(printed(lambda d: d["end"]["sum_received"].update(seconds=0.0000015)))

    assert report.elapsed_us == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(error="unable to connect to server"),
        lambda d: d["start"]["test_start"].update(protocol="UDP"),
        lambda d: d["start"].pop("version"),
        lambda d: d["end"].pop("sum_received"),
        lambda d: d["end"]["sum_received"].update(bytes=0),
        lambda d: d["end"]["sum_received"].update(bytes=-1),
        lambda d: d["end"]["sum_received"].update(bytes=1.5),
        lambda d: d["end"]["sum_received"].update(bytes=True),
        lambda d: d["end"]["sum_received"].update(bytes=2**63),
        lambda d: d["end"]["sum_received"].update(seconds=0),
        lambda d: d["end"]["sum_received"].update(seconds="2"),
        lambda d: d["end"]["sum_received"].update(seconds=10**9),
        lambda d: d["end"]["sum_received"].update(seconds=float("nan")),
        lambda d: d["end"]["sum_received"].update(seconds=float("inf")),
        lambda d: d.update(end=[]),
    ],
)
def test_report_when_it_is_not_of_a_good_run_then_refused(change: Callable[[Any], object]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_iperf3(printed(change))

    assert caught.value.code == "bad_iperf_output"


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "iperf3: error - unable to connect", "[" * 100_000])
def test_report_when_it_is_no_document_then_refused(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_iperf3(text)

    assert caught.value.code == "bad_iperf_output"
