"""Verification by the client: nonces, message digest and transcripts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

import asara
from asara.protocol_client import ProtocolClient
from asara.v1.play_pb2 import PlayResponse
from asara.verifier import make_nonce
from tests.contract.client import scripted
from tests.contract.client.scripted import ScriptedReferee, Stream
from tests.contract.client.test_play import settings, take_first

VECTORS = Path(__file__).parents[2] / "vectors"
ALARM = "THE DEAL CANNOT BE TRUSTED"


class DigestRecorder(asara.Bot):
    """Records the digest at each call, by match."""

    digests: dict[str, list[bytes]]

    def started(self) -> None:
        self.digests.setdefault(self.match.match_id, []).append(self.match.digest)

    def decide(self, decision: asara.Decision) -> asara.Answer:
        self.digests[self.match.match_id].append(self.match.digest)
        return decision.legal_actions[0]

    def ended(self, result: asara.MatchEnded) -> None:
        self.digests[self.match.match_id].append(self.match.digest)


@pytest.fixture
def recorder() -> type[DigestRecorder]:
    return type("FreshRecorder", (DigestRecorder,), {"digests": {}})


NewClient = Callable[..., ProtocolClient]


@pytest.fixture
def new_client() -> Iterator[NewClient]:
    """Return a function that makes a client of a bot and its settings, closed after the test."""
    with ExitStack() as stack:
        yield lambda bot, **options: stack.enter_context(
            closing(ProtocolClient(bot, asara.Settings(**options)))
        )


def send(client: ProtocolClient, *responses: PlayResponse) -> None:
    for response in responses:
        client.handle(response.SerializeToString())


def read_transcript(path: Path) -> list[bytes]:
    """Return the messages, each of which is preceded by its length as a varint."""
    data, at, messages = path.read_bytes(), 0, []
    while at < len(data):
        length = shift = 0
        while True:
            byte = data[at]
            at += 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        messages.append(data[at : at + length])
        assert len(messages[-1]) == length
        at += length
    return messages


def test_digest_and_transcript_follow_the_vectors(
    new_client: NewClient,
    recorder: type[DigestRecorder],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    vector = json.loads((VECTORS / "digest.json").read_text())
    messages = [bytes.fromhex(step["message"]) for step in vector["messages"]]
    digests = [bytes.fromhex(step["digest"]) for step in vector["messages"]]
    client = new_client(recorder, seed=vector["seed"], transcript=tmp_path / "transcripts")
    requests = [client.handle(message) for message in messages]
    assert requests[0] is not None
    assert requests[0].nonce.nonce == make_nonce("1", "m1", 1)
    assert recorder.digests == {"m1": [digests[1], digests[2], digests[5]]}
    assert read_transcript(tmp_path / "transcripts" / "m1-seat1.transcript") == messages
    kept = (tmp_path / "transcripts" / "m1-seat1.digest").read_text()
    assert kept == vector["messages"][-1]["digest"] + "\n"
    assert ALARM not in caplog.text


def test_nonces_follow_the_seed_or_are_drawn() -> None:
    vectors = json.loads((VECTORS / "joint_deal.json").read_text())["seeded_nonces"]
    for vector in vectors:
        made = make_nonce(vector["seed"], vector["match_id"], vector["seat"])
        assert made.hex() == vector["nonce"]
    for seed in (None, ""):
        assert len(make_nonce(seed, "m1", 0)) == 32
        assert make_nonce(seed, "m1", 0) != make_nonce(seed, "m1", 0)


def test_a_digest_that_exists_is_kept(
    new_client: NewClient,
    recorder: type[DigestRecorder],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / "m1-seat0.digest").write_text("mine")
    client = new_client(recorder, transcript=tmp_path)
    send(client, scripted.started(), scripted.ended())
    assert (tmp_path / "m1-seat0.digest").read_text() == "mine"
    assert "m1: no digest written: File exists" in caplog.text


def test_a_transcript_that_cannot_be_written_stops_no_match(
    referee: ScriptedReferee, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "transcripts"

    def one_match(stream: Stream) -> Iterator[PlayResponse]:
        folder.rmdir()
        yield from scripted.one_match(stream)

    referee.scripts.append(one_match)
    asara.play(take_first, settings(referee, transcript=folder))
    assert "m1: transcript stopped: No such file or directory" in caplog.text
