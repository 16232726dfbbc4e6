"""Verification by the client: nonces, message digest, commitments and transcripts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import grpc
import pytest

import asara
from asara.protocol_client import ProtocolClient
from asara.v1.play_pb2 import PlayResponse
from asara.verifier import make_nonce
from tests.contract.client import scripted
from tests.contract.client.scripted import COMMITMENT, ScriptedReferee, Stream
from tests.contract.client.test_play import settings, take_first

VECTORS = Path(__file__).parents[2] / "vectors"
OTHER = hashlib.sha256(b"other").digest()
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


def test_a_joint_deal_over_a_stream_that_breaks(
    referee: ScriptedReferee, recorder: type[DigestRecorder], caplog: pytest.LogCaptureFixture
) -> None:
    nonces: list[bytes] = []

    def before(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        yield scripted.committed()
        nonces.append(stream.nonce().nonce)
        stream.refuse(grpc.StatusCode.UNAVAILABLE, "", "cable pulled")

    def after(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        yield scripted.committed()
        again = stream.nonce()
        assert (again.match_id, again.nonce) == ("m1", nonces[0])
        yield scripted.started(nonces=[again.nonce, bytes(32)])
        yield scripted.decision()
        stream.reply()
        yield scripted.ended()
        yield scripted.goodbye()

    referee.scripts += [before, after]
    asara.play(recorder, settings(referee))
    assert len(nonces[0]) == 32
    assert ALARM not in caplog.text
    # A repeated DealCommitted counts once.
    digest = bytes(32)
    for response in (
        scripted.committed(),
        scripted.started(nonces=[nonces[0], bytes(32)]),
        scripted.decision(),
        scripted.ended(),
    ):
        digest = hashlib.sha256(digest + response.SerializeToString()).digest()
    assert recorder.digests["m1"][-1] == digest


@pytest.mark.parametrize(
    ("joint", "responses", "violation"),
    [
        (False, [scripted.started(), scripted.ended(secret=b"other")], "does not open"),
        (False, [scripted.started(), scripted.ended(secret=b"")], "secret (none)"),
        (
            False,
            [scripted.started(shared_deal=True), scripted.ended(secret=b"other")],
            "does not open",
        ),
        (
            False,
            [scripted.started(), scripted.started(resumed=True, commitment=OTHER)],
            "was changed to",
        ),
        (True, [scripted.started(commitment=OTHER, nonces=[b"mine"])], "was changed to"),
        (True, [scripted.committed(commitment=OTHER)], "was changed to"),
        (True, [scripted.started(nonces=[bytes(32), bytes(32)])], "without the nonce"),
        (True, [scripted.started(nonces=[])], "without the nonce"),
    ],
)
def test_a_violation_of_the_commitment_is_logged(
    new_client: NewClient,
    joint: bool,
    responses: list[PlayResponse],
    violation: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    client = new_client(type("Quiet", (DigestRecorder,), {"digests": {}}), seed=1)
    if joint:
        send(client, scripted.committed())
    send(client, *responses)
    alarms = [record for record in caplog.records if ALARM in record.getMessage()]
    assert alarms
    assert violation in alarms[0].getMessage()
    assert alarms[0].levelname == "ERROR"


def test_honest_and_void_matches_raise_no_alarm(
    new_client: NewClient, recorder: type[DigestRecorder], caplog: pytest.LogCaptureFixture
) -> None:
    client = new_client(recorder, seed=1)
    send(client, scripted.started("a"), scripted.ended("a"))
    send(client, scripted.started("b"), scripted.ended("b", void=True))
    send(client, scripted.committed("c"), scripted.ended("c", void=True))  # cancelled
    mine = make_nonce(1, "d", 0)
    send(client, scripted.committed("d"), scripted.started("d", nonces=[mine, b""]))
    send(client, scripted.started("e", shared_deal=True), scripted.ended("e", secret=b""))
    assert hashlib.sha256(scripted.SECRET).digest() == COMMITMENT
    assert ALARM not in caplog.text


def test_a_transcript_never_replaces_another_and_stays_in_its_folder(
    new_client: NewClient, recorder: type[DigestRecorder], tmp_path: Path
) -> None:
    for _ in range(2):
        client = new_client(recorder, transcript=tmp_path)
        send(client, scripted.started("../a b"))
        client.close()
    client = new_client(recorder, transcript=tmp_path)
    send(client, scripted.started("é" * 64))
    client.close()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        "%2E.%2Fa%20b-seat0-2.transcript",
        "%2E.%2Fa%20b-seat0.transcript",
        "%C3%A9" * 33 + "%C-seat0.transcript",
    ]


def test_the_digest_is_written_beside_the_transcript_when_the_match_has_ended(
    new_client: NewClient,
    recorder: type[DigestRecorder],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for _ in range(2):
        client = new_client(recorder, transcript=tmp_path)
        send(client, scripted.started())
        assert len(list(tmp_path.glob("*.digest"))) < len(list(tmp_path.glob("*.transcript")))
        send(client, scripted.ended())
    unended = new_client(recorder, transcript=tmp_path)
    send(unended, scripted.committed("c"))
    unended.close()
    client = new_client(recorder, transcript=tmp_path)
    send(client, scripted.committed("c"), scripted.ended("c", void=True))  # cancelled
    names = sorted(path.name for path in tmp_path.glob("*.digest"))
    assert names == ["c-seat0-2.digest", "m1-seat0-2.digest", "m1-seat0.digest"]
    for name in names:
        digest = bytes(32)
        for message in read_transcript((tmp_path / name).with_suffix(".transcript")):
            digest = hashlib.sha256(digest + message).digest()
        assert (tmp_path / name).read_text() == f"{digest.hex()}\n"
    assert not caplog.records


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


def test_a_folder_that_cannot_be_created_is_an_error_before_connecting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings = asara.Settings(address="unix:/none", token="t", transcript=tmp_path / "file" / "x")
    with pytest.raises(
        asara.ConfigurationError, match=r"ASARA_TRANSCRIPT: cannot create the folder"
    ):
        asara.play(take_first, settings)
