"""A file that pretends to be a replay costs little time and memory, whatever is in it."""

import resource
import subprocess
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from asara.v1 import replay_pb2
from asara.v1.replay_pb2 import ReplayRecord
from asara_codec.results import RejectionReason
from asara_codec.wire_format import delimited, varint
from asara_server.journal.replay import ReplayError
from asara_server.match.inputs import EnterRecord, HaltRecord, Presence, RejectionRecord
from asara_server.replay.audit import audit
from asara_server.replay.file import LARGEST_FILE, MOST_RECORDS, read_replay
from asara_server.replay.signing import SigningKey
from tests.cli.command import environment
from tests.events import EVENT_S
from tests.match.playouts import EVERYTHING, random_replay, record_bytes, replay_bytes
from tests.sizes import others_long
from tests.yardstick import at_most

REPLAY = random_replay(EVERYTHING, 4, seed=3)
KEY = SigningKey.new()
SOUND = replay_bytes(REPLAY, KEY)
START = SOUND[:8]
HEADER = delimited(record_bytes(REPLAY.header))
MIB = 2**20

MOST_BYTES = 256 * MIB
MOST_LOOPS = 40
"""The promise of a second, less the start of Python, in reference loops of a slow core."""


def edition(text: str) -> bytes:
    """A file whose header has this edition, which the program does not write."""
    message = ReplayRecord.FromString(record_bytes(REPLAY.header))
    message.header.edition_zlib = zlib.compress(text.encode(), 9)
    return START + delimited(message.SerializeToString(deterministic=True)) + SOUND[-200:]


def edition_of_zeros() -> bytes:
    """64 KiB that expand to 64 MiB."""
    message = ReplayRecord.FromString(record_bytes(REPLAY.header))
    message.header.edition_zlib = zlib.compress(bytes(64 * MIB), 6)
    return START + delimited(message.SerializeToString(deterministic=True))


def body(*records: bytes) -> bytes:
    return START + HEADER + b"".join(records)


def forged(*extra: object) -> bytes:
    """A file, signed like any other, with more records after the start of the match."""
    first, *rest = REPLAY.records
    return replay_bytes(replace(REPLAY, records=(first, *extra, *rest)), KEY)  # type: ignore[arg-type]


def wide_start() -> bytes:
    start = replay_pb2.ReplayStart(present=[{"seat": 0}] * 600_000)
    return body(delimited(ReplayRecord(start=start).SerializeToString()))


def nested(depth: int) -> bytes:
    data = b""
    for _ in range(depth):
        data = b"\x1a" + delimited(data)
    return body(delimited(data))


WIDE = replay_pb2.ReplayStart(present=[{}] * 30_000)
FULL = LARGEST_FILE - 2_000
DOTS = ".".join("a" * 15_000)
HALT = delimited(record_bytes(HaltRecord(0)))
EMPTY_REJECTION = RejectionRecord(0, 0, 0, (), RejectionReason.EMPTY, "")
REJECTION = delimited(record_bytes(EMPTY_REJECTION))
ENTER = EnterRecord(0, 0, Presence(True, False, None))

BOMBS: dict[str, Callable[[], bytes]] = {
    "4 MiB of zero bytes": lambda: START + bytes(FULL),
    "60 MiB of zero bytes": lambda: START + bytes(60 * MIB),
    "zero bytes after a header": lambda: body(bytes(FULL)),
    "an edition of 64 MiB": edition_of_zeros,
    "an edition of one long dotted key": lambda: edition(f"{DOTS} = 1\n"),
    "an edition of 100,000 dotted keys": lambda: edition(
        "".join(f"a.b.c{n} = 1\n" for n in range(100_000))
    ),
    "an edition of dotted keys within the limits": lambda: edition(
        "".join(f"k{n}.{'.'.join('a' * 31)} = 1\n" for n in range(450))
    ),
    "an edition nested deeply": lambda: edition("a = " + "[" * 30_000),
    "an edition with a long number": lambda: edition("a = " + "1" * 30_000),
    "an edition with a long hexadecimal number": lambda: edition("a = 0x" + "f" * 30_000),
    "200,000 rejections": lambda: body(REJECTION * 200_000),
    "rejections within the limit of records": lambda: forged(*[EMPTY_REJECTION] * 7_000),
    "a million records": lambda: body(HALT * 1_000_000),
    "records within the limit": lambda: forged(*[HaltRecord(0)] * 7_000),
    "a bot that returns again and again": lambda: forged(*[ENTER] * 7_000),
    "a length of many bytes": lambda: body(b"\xff" * FULL),
    "a length of 2**63": lambda: body(varint(2**63) + b"x"),
    "one record of 4 MiB": lambda: body(varint(FULL) + bytes(FULL)),
    "600,000 seats": wide_start,
    "300,000 seats in many records": lambda: body(
        *[delimited(ReplayRecord(start=WIDE).SerializeToString())] * 40
    ),
    "rejections of 30,000 empty actions": lambda: forged(
        *[EMPTY_REJECTION._replace(seat=n % 4, actions=(b"",) * 30_000) for n in range(16)]
    ),
    "replies of 30,000 actions": lambda: body(
        *[delimited(ReplayRecord(reply={"actions": [{}] * 30_000}).SerializeToString())] * 60
    ),
    "nested groups": lambda: nested(100_000),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one sound replay behind all bombs, which `bomb` writes."""
    found = tmp_path_factory.mktemp("bombs")
    (found / "sound.asara").write_bytes(SOUND)
    return found


def bomb(folder: Path, name: str) -> Path:
    path = folder / f"{list(BOMBS).index(name):02}.asara"
    if not path.exists():
        path.write_bytes(BOMBS[name]())
    return path


@pytest.mark.parametrize("name", others_long(BOMBS, 2))
def test_a_bomb_ends_in_a_sentence_within_a_second(folder: Path, name: str) -> None:
    path = bomb(folder, name)
    with at_most(MOST_LOOPS):
        try:
            read_replay(path)
        except ReplayError as error:
            fault = str(error)
        else:
            fault = audit(path.read_bytes()).fault or ""
    assert 0 < len(fault) < 1_000
    assert "record" in fault or "larger than" in fault


def limited(*words: str | Path) -> tuple[int, str, int]:
    """Run a command; return its status, its output and its greatest memory in bytes."""
    code = (
        "import re, runpy, sys\n"
        "sys.argv = ['asara', *sys.argv[1:]]\n"
        "try:\n    runpy.run_module('asara_server.cli', run_name='__main__')\n"
        "finally:\n"
        # ru_maxrss would count the process that started this one
        "    most = re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]\n"
        "    print(f'\\n{most}')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=EVENT_S,
        env=environment(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (60, 60)),
        check=False,
    )
    *text, kilobytes = done.stdout.rstrip().splitlines()
    output = "\n".join(text) + done.stderr
    assert "Traceback" not in output
    return done.returncode, output, int(kilobytes) * 1024


@pytest.mark.long
def test_one_bad_file_keeps_no_other_unchecked_in_256_mb(folder: Path) -> None:
    for name in BOMBS:
        bomb(folder, name)
    status, output, most = limited("audit", folder, "--jobs", "1")
    assert status == 1
    assert f"Audited {len(BOMBS) + 1} replays: 1 passed, {len(BOMBS)} failed." in output
    assert most < MOST_BYTES


def test_the_longest_match_is_within_the_limits() -> None:
    """Far more decisions than any match has, and all rejections and returns that are allowed."""
    actions = (b"\xfa\x7f" + delimited(bytes(1_000)),) * 64  # of a later version
    rejection = EMPTY_REJECTION._replace(actions=actions, detail="x" * 300)
    largest = 4 * 4 * len(record_bytes(rejection))
    replies = 1_000 * max(len(record_bytes(record)) for record in REPLAY.records)
    assert largest + replies + 4_000 * len(record_bytes(ENTER)) < LARGEST_FILE
    assert MOST_RECORDS > 1_000 + 16 + 4_000
