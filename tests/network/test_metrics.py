"""Metrics, scraped over HTTP from a referee with running matches."""

import asyncio
import socket
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from asara.v1.vocabulary_pb2 import Action, BuildCount
from asara_codec.clocks import Clocks
from asara_codec.results import RejectionReason
from asara_server.journal.journal import Journal
from asara_server.match.inputs import Record, ReplyRecord
from asara_server.network.addresses import ServeError
from asara_server.network.metrics import MetricsServer, watch
from asara_server.referee import hosted
from asara_server.referee.counters import Counters
from asara_server.referee.referee import Referee
from asara_server.referee.stream_errors import VIOLATIONS
from tests.events import EVENT_S, until
from tests.match.playouts import replay_of
from tests.referee.harness import RefereeServer, Stream, play_bot, referee_server, spec, together

ADDRESS: Final = "127.0.0.1:0"
BAD: Final = Action(build_count=BuildCount(count=99))
GET: Final = b"GET /metrics HTTP/1.0\r\n\r\n"
Samples = dict[tuple[str, str], float]
"""Values by name and by the values of the labels, in the order of the labels' names."""


def replies(records: Sequence[Record]) -> int:
    return sum(isinstance(record, ReplyRecord) for record in records)


def parsed(text: str) -> Samples:
    return {
        (sample.name, "/".join(v for _, v in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scraped(metrics: MetricsServer) -> Samples:
    with urlopen(f"http://{metrics.address}/metrics", timeout=EVENT_S) as response:
        return parsed(response.read().decode())


async def scrape(metrics: MetricsServer) -> Samples:
    return await asyncio.to_thread(scraped, metrics)


@contextmanager
def metrics_of(referee: Referee) -> Iterator[MetricsServer]:
    with closing(MetricsServer(ADDRESS)) as metrics:
        watch(metrics.registry, referee)
        yield metrics


def raw(metrics: MetricsServer, data: bytes) -> bytes:
    """Send these bytes; return the whole response."""
    host, _, port = metrics.address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=EVENT_S) as connection:
        with suppress(OSError):  # it may be closed before all of our bytes are sent
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
        answer = b""
        with suppress(ConnectionResetError):  # it was closed with our bytes unread
            while part := connection.recv(65536):
                answer += part
        return answer


async def test_a_match_is_counted_when_it_is_over(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        async with referee_server(journal=journal) as server:
            with metrics_of(server.referee) as metrics:
                first, second = await server.dial_all("ab")
                record, *_ = await together(
                    server.referee.play(spec()), play_bot(first, seed=1), play_bot(second, seed=2)
                )
                text = (await asyncio.to_thread(raw, metrics, GET)).decode()
    assert "token-" not in text
    assert "m1" not in text
    assert "text/plain; version=0.0.4" in text
    found = parsed(text.partition("\r\n\r\n")[2])
    records = replay_of(record).records
    number = replies(records)
    assert number > 50
    assert found["asara_matches_total", "sound"] == 1
    assert found["asara_matches_total", "void"] == 0
    assert found["asara_decisions_total", ""] == number
    for phase, field in (("bot", "bot_us"), ("referee", "referee_us")):
        took = sum(getattr(one, field, 0) for one in records)
        assert took > 0
        assert found["asara_decision_seconds_sum", phase] == pytest.approx(took / 1e6)
        assert found["asara_decision_seconds_count", phase] == number
        assert found["asara_decision_seconds_bucket", f"+Inf/{phase}"] == number
    assert number < found["asara_journal_commit_seconds_count", ""] <= number + 10
    assert found["asara_journal_commit_seconds_sum", ""] > 0
    assert found["asara_open_matches", "running"] == 0
    assert found["asara_streams", ""] == 2


async def answer(server: RefereeServer, streams: list[Stream], *actions: Action) -> Stream:
    """Let the bot whose turn it is reply; return its stream before the response is read."""
    match = server.referee.running_matches()[0].match
    assert match is not None
    assert match.asked is not None
    stream = streams[match.asked]
    await stream.answer(await stream.until("decision"), *actions)
    return stream


async def test_a_running_match_changes_nothing_but_the_gauges(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        async with referee_server(journal=journal) as server:
            with metrics_of(server.referee) as metrics:
                server.admit("a", "b")
                match = asyncio.create_task(server.referee.play(spec()))
                streams = [await server.dial("a")]
                server.stream()
                await until(lambda: server.referee.stream_count_without_hello)
                waiting = await scrape(metrics)
                assert waiting["asara_open_matches", "waiting"] == 1
                assert waiting["asara_open_matches", "running"] == 0
                assert waiting["asara_streams", ""] == 1
                assert waiting["asara_streams_without_hello", ""] == 1
                streams.append(await server.dial("b"))
                await until(lambda: server.referee.running_match_count)
                before = await scrape(metrics)
                changed = {name for name, value in before.items() if waiting[name] != value}
                assert changed == {
                    ("asara_open_matches", "waiting"),
                    ("asara_open_matches", "running"),
                    ("asara_streams", ""),
                }
                for number in range(1, 21):
                    await answer(server, streams)
                    await until(partial(answered, server, number))
                await (await answer(server, streams, BAD)).until("rejection")
                assert await scrape(metrics) == before
                match.cancel()


def answered(server: RefereeServer, number: int) -> bool:
    """True if the running match has this number of replies."""
    match = server.referee.running_matches()[0].match
    return match is not None and replies(match.records) == number


async def test_faults_are_counted_by_kind() -> None:
    async with referee_server() as server:
        with metrics_of(server.referee) as metrics:
            server.admit("a", "b", "c", "d")
            streams = [await server.dial(name) for name in "abc"]
            quick = Clocks(start_up_us=200_000)
            four = asyncio.create_task(server.referee.play(spec(4, clocks=quick)))
            await until(lambda: server.referee.running_match_count)
            match = server.referee.running_matches()[0].match
            assert match is not None
            assert match.asked is not None
            offender = streams[match.asked]
            decision = await offender.until("decision")
            for _ in range(4):  # three are forgiven
                await offender.answer(decision, BAD)
            await until(lambda: len(match.faults) == 6)
            other = next(stream for stream in streams if stream is not offender)
            await other.send_bytes(b"\xff")
            await four
            found = await scrape(metrics)
    assert found["asara_rejections_total", "illegal_action"] == 4
    assert found["asara_rejections_total", "empty"] == 0
    assert found["asara_protocol_violations_total", "unreadable-request"] == 1
    assert found["asara_forfeits_total", "d/never_started"] == 1
    forfeits = {key[1]: n for key, n in found.items() if key[0] == "asara_forfeits_total"}
    kinds = sorted(label.partition("/")[2] for label in forfeits)
    assert kinds == ["never_started", "protocol_violation", "rejected_replies"]
    assert set(forfeits.values()) == {1}
    reasons = {label for name, label in found if name == "asara_rejections_total"}
    assert reasons == {reason.name.lower() for reason in RejectionReason if reason}
    violations = {label for name, label in found if name == "asara_protocol_violations_total"}
    assert violations == {kind.reason for kind in VIOLATIONS}


@pytest.mark.sources_only
async def test_a_match_in_which_the_referee_fails_is_counted_as_void(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no deal")

    async with referee_server() as server:
        with metrics_of(server.referee) as metrics:
            server.admit("a", "b")
            await server.dial("a")
            await server.dial("b")
            monkeypatch.setattr(hosted, "Match", fail)
            record = await server.referee.play(spec())
            assert record.void
            found = await scrape(metrics)
    assert (found["asara_matches_total", "void"], found["asara_matches_total", "sound"]) == (1, 0)


# The port


def test_garbage_is_refused_and_has_no_effect(capfd: pytest.CaptureFixture[str]) -> None:
    with metrics_of(Referee()) as metrics:
        for data, answer in (
            (b"", b""),
            (bytes(range(256)) * 200, b""),
            (b"GET /metrics HTTP/9.9\r\n\r\n", b""),
            (b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n", b"HTTP/1"),
            (b"POST /metrics HTTP/1.1\r\nContent-Length: 9\r\n\r\nrubbish!!", b"HTTP/1.0 405"),
        ):
            said = raw(metrics, data)
            assert said.startswith(answer) or (not said and len(data) > 50_000)
            assert b"asara_open_matches" not in said
        assert scraped(metrics)["asara_open_matches", "running"] == 0
    assert capfd.readouterr() == ("", "")


def test_remote_addresses_can_be_allowed_and_a_port_serves_one_program() -> None:
    with closing(MetricsServer("0.0.0.0:0", allow_insecure_remote=True)) as metrics:
        port = metrics.address.rpartition(":")[2]
        assert {name for name, _ in scraped(metrics)} == {"asara_build_info"}  # no referee yet
        with pytest.raises(ServeError, match="another program listens there"):
            MetricsServer(f"127.0.0.1:{port}")
    with pytest.raises(OSError, match="refused"):
        scraped(metrics)


def test_a_stall_is_counted_once():
    counters = Counters()
    for until_now_us in (2_000_000, 2_000_000, 5_000_000):
        counters.count_stalls(until_now_us)
    assert counters.registry.get_sample_value("asara_referee_stalled_seconds_total") == 5
