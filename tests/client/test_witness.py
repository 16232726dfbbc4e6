"""What a bot keeps of a match: its nonce, the digest of all messages, a transcript."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

import asara
from asara.conversation import Conversation
from asara.v1.play_pb2 import PlayResponse
from asara.witness import make_nonce
from tests.client import scripted
from tests.client.scripted import COMMITMENT, ScriptedReferee, Stream
from tests.client.test_play import settings, take_first

VECTORS = Path(__file__).parents[1] / "vectors"
OTHER = hashlib.sha256(b"other").digest()
ALARM = "THE DEAL CANNOT BE TRUSTED"


class Witnessing(asara.Bot):
    """Keeps the digests it saw, by match."""

    seen: dict[str, list[bytes]]

    def started(self) -> None:
        self.seen.setdefault(self.match.match_id, []).append(self.match.digest)

    def decide(self, decision: asara.Decision) -> asara.Answer:
        self.seen[self.match.match_id].append(self.match.digest)
        return decision.legal_actions[0]

    def ended(self, result: asara.MatchEnded) -> None:
        self.seen[self.match.match_id].append(self.match.digest)


@pytest.fixture
def witnessing() -> type[Witnessing]:
    return type("FreshWitnessing", (Witnessing,), {"seen": {}})


def conversation(bot: type[asara.Bot], **options: object) -> Conversation:
    return Conversation(bot, asara.Settings(**options))  # type: ignore[arg-type]


def tell(talk: Conversation, *responses: PlayResponse) -> None:
    for response in responses:
        talk.answer(response.SerializeToString())


def read_transcript(path: Path) -> list[bytes]:
    """Any protobuf library reads it: each message behind its length as a varint."""
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
    witnessing: type[Witnessing], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    vector = json.loads((VECTORS / "digest.json").read_text())
    messages = [bytes.fromhex(step["message"]) for step in vector["messages"]]
    digests = [bytes.fromhex(step["digest"]) for step in vector["messages"]]
    talk = conversation(witnessing, seed=vector["seed"], transcript=tmp_path / "kept")
    requests = [talk.answer(message) for message in messages]
    assert requests[0] is not None
    assert requests[0].nonce.nonce == make_nonce("1", "m1", 1)
    assert witnessing.seen == {"m1": [digests[1], digests[2], digests[5]]}
    assert read_transcript(tmp_path / "kept" / "m1-seat1.transcript") == messages
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
    referee: ScriptedReferee, witnessing: type[Witnessing], caplog: pytest.LogCaptureFixture
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
    asara.play(witnessing, settings(referee))
    assert len(nonces[0]) == 32
    assert ALARM not in caplog.text
    # Asked twice for the nonce, the bot counts it once.
    digest = bytes(32)
    for response in (
        scripted.committed(),
        scripted.started(nonces=[nonces[0], bytes(32)]),
        scripted.decision(),
        scripted.ended(),
    ):
        digest = hashlib.sha256(digest + response.SerializeToString()).digest()
    assert witnessing.seen["m1"][-1] == digest


@pytest.mark.parametrize(
    ("joint", "responses", "found"),
    [
        (False, [scripted.started(), scripted.ended(secret=b"other")], "does not open"),
        (False, [scripted.started(), scripted.ended(secret=b"")], "secret (none)"),
        (
            False,
            [scripted.started(mirrored=True), scripted.ended(secret=b"other")],
            "does not open",
        ),
        (
            False,
            [scripted.started(), scripted.started(resumed=True, commitment=OTHER)],
            "changed that to",
        ),
        (True, [scripted.started(commitment=OTHER, nonces=[b"mine"])], "changed that to"),
        (True, [scripted.committed(commitment=OTHER)], "changed that to"),
        (True, [scripted.started(nonces=[bytes(32), bytes(32)])], "without the nonce"),
        (True, [scripted.started(nonces=[])], "without the nonce"),
    ],
)
def test_a_referee_that_does_not_keep_its_word_is_named(
    joint: bool, responses: list[PlayResponse], found: str, caplog: pytest.LogCaptureFixture
) -> None:
    talk = conversation(type("Quiet", (Witnessing,), {"seen": {}}), seed=1)
    if joint:
        tell(talk, scripted.committed())
    tell(talk, *responses)
    alarms = [record for record in caplog.records if ALARM in record.getMessage()]
    assert alarms
    assert found in alarms[0].getMessage()
    assert alarms[0].levelname == "ERROR"


def test_honest_and_void_matches_raise_no_alarm(
    witnessing: type[Witnessing], caplog: pytest.LogCaptureFixture
) -> None:
    talk = conversation(witnessing, seed=1)
    tell(talk, scripted.started("a"), scripted.ended("a"))
    tell(talk, scripted.started("b"), scripted.ended("b", void=True))
    tell(talk, scripted.committed("c"), scripted.ended("c", void=True))  # called off
    mine = make_nonce(1, "d", 0)
    tell(talk, scripted.committed("d"), scripted.started("d", nonces=[mine, b""]))
    tell(talk, scripted.started("e", mirrored=True), scripted.ended("e", secret=b""))
    assert hashlib.sha256(scripted.SECRET).digest() == COMMITMENT
    assert ALARM not in caplog.text


def test_a_transcript_never_replaces_another_and_stays_in_its_folder(
    witnessing: type[Witnessing], tmp_path: Path
) -> None:
    for _ in range(2):
        talk = conversation(witnessing, transcript=tmp_path)
        tell(talk, scripted.started("../a b"))
        talk.close()
    tell(conversation(witnessing, transcript=tmp_path), scripted.started("é" * 64))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        "%2E.%2Fa%20b-seat0-2.transcript",
        "%2E.%2Fa%20b-seat0.transcript",
        "%C3%A9" * 33 + "%C-seat0.transcript",
    ]


def test_a_transcript_that_cannot_be_written_stops_no_match(
    referee: ScriptedReferee, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "kept"

    def one_match(stream: Stream) -> Iterator[PlayResponse]:
        folder.rmdir()
        yield from scripted.one_match(stream)

    referee.scripts.append(one_match)
    asara.play(take_first, settings(referee, transcript=folder))
    assert "m1: no further transcript: No such file or directory" in caplog.text


def test_a_folder_that_cannot_be_made_is_refused_before_dialling(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    wish = asara.Settings(address="unix:/none", token="t", transcript=tmp_path / "file" / "x")
    with pytest.raises(asara.ConfigurationError, match=r"ASARA_TRANSCRIPT: cannot make the folder"):
        asara.play(take_first, wish)
