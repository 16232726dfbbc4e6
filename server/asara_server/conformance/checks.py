"""Checks at the end of a case: exit status, output, files, streams and time."""

import re
import time
from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

from asara_codec.wire_format import varint
from asara_server.conformance.case import Case, Expected
from asara_server.conformance.failure import CaseFailed
from asara_server.conformance.played_match import PlayedMatch
from asara_server.conformance.program import Program, ended_with
from asara_server.conformance.script import Script
from asara_server.conformance.stage import Stage
from asara_server.conformance.stream import Stream
from asara_server.text import plain

_OF_RUNTIMES = re.compile(r"Picked up |WARNING: |OpenJDK |\(node:|\(Use `node")
"""Beginnings of lines that a language's runtime may print on its own."""
_SHOWN = 120
_ENDINGS = (".transcript", ".digest")
_EARLIER = "of an earlier run"
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 2.0
_SHORTEST = 0.45
"""Minimum share of a pause that remains after clients subtract a random part."""
_ALLOWANCE_S = 0.9
"""Seconds that connecting may add to a pause."""


def check_end(
    case: Case,
    stage: Stage,
    program: Program,
    script: Script,
    status: int,
    *,
    token: str,
    transcripts: Path,
) -> None:
    """Check everything that the case expects after the program has ended; raise CaseFailed."""
    ended = time.monotonic()
    expected = case.expect
    if program.stderr.too_large or program.stdout.too_large:
        seen = "the program printed more than 64 MiB, and was killed"
        raise CaseFailed("at most 64 MiB of output", seen)
    if expected.status is not None and status != expected.status:
        seen = ended_with(status)
        raise CaseFailed(f"exit status {expected.status}", seen)
    _check_output(expected, program, stage.address, token)
    if case.streams:
        stage.check_no_other_stream()
    suffix = "-2" if case.settings.transcript == "used folder" else ""
    for name in expected.transcripts:
        _check_transcript(script.matches[name], transcripts, suffix)
    for name in expected.digests:
        _check_digest(script.matches[name], transcripts, suffix)
    if suffix:
        _check_folder(case, transcripts)
    _check_streams(expected, stage)
    if expected.ends_after_s is not None:
        least, most = expected.ends_after_s
        seconds = ended - stage.last_contact
        if not least <= seconds <= most:
            raise CaseFailed(f"an end after {least:g} to {most:g} s", f"{seconds:.1f} s")


def _check_output(expected: Expected, program: Program, address: str, token: str) -> None:
    text = program.stderr.text
    for template in expected.stderr:
        wanted = template.replace("{address}", address)
        if wanted not in text:
            raise CaseFailed(f"{wanted!r} on standard error", _last_line(text))
    for unwanted in expected.not_stderr:
        if unwanted in text:
            raise CaseFailed(f"no {unwanted!r} on standard error", "it is there")
    lines = [line for line in text.splitlines() if line.strip() and not _OF_RUNTIMES.match(line)]
    if expected.one_line and len(lines) != 1:
        raise CaseFailed("one line on standard error", f"{len(lines)} lines")
    if expected.one_line and not lines[0].startswith("asara: "):
        raise CaseFailed("a line that begins with 'asara: '", _last_line(text))
    if expected.secret_token and token in text + program.stdout.text:
        raise CaseFailed("no token in the output", "it is there")


def _last_line(text: str) -> str:
    lines = text.rstrip().splitlines()
    return repr(plain(lines[-1], longest=_SHOWN)) if lines else "nothing"


def fill_folder(case: Case, folder: Path) -> None:
    """Write transcripts and digests, as an earlier run would have left them."""
    folder.mkdir()
    for name, settings in case.matches.items():
        for ending in _ENDINGS:
            path = folder / f"{_file_name(name, settings.seat)}{ending}"
            path.write_text(_EARLIER, encoding="utf-8")


def _check_folder(case: Case, folder: Path) -> None:
    """Check that the files of the earlier run are still there."""
    for name, settings in case.matches.items():
        for ending in _ENDINGS:
            path = folder / f"{_file_name(name, settings.seat)}{ending}"
            if _content(path) != _EARLIER.encode():
                raise CaseFailed(f"{path.name} of an earlier run kept", "another content")


def _check_transcript(match: PlayedMatch, folder: Path, suffix: str) -> None:
    messages = match.sent
    found = _content(folder / f"{_file_name(match.name, match.seat)}{suffix}.transcript")
    if found != b"".join(varint(len(message)) + message for message in messages):
        raise CaseFailed(
            f"the {len(messages)} messages of {match.name!r} in its transcript",
            f"{len(found):,} bytes that differ",
        )


def _check_digest(match: PlayedMatch, folder: Path, suffix: str) -> None:
    digest = bytes(32)
    for message in match.sent:
        digest = sha256(digest + message).digest()
    name = f"{_file_name(match.name, match.seat)}{suffix}.digest"
    if _content(folder / name) != f"{digest.hex()}\n".encode():
        raise CaseFailed(f"the digest {digest.hex()[:16]}… in {name}", "another content")


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CaseFailed(f"a file {path.name}", str(error.strerror)) from None


def _file_name(match_id: str, seat: int) -> str:
    """Return the first part of the file names of a match."""
    kept = re.compile(rb"[A-Za-z0-9._+-]")
    parts = [bytes([byte]) for byte in match_id.encode()]
    text = "".join(p.decode() if kept.match(p) else f"%{p[0]:02X}" for p in parts)
    text = f"%2E{text[1:]}" if text.startswith(".") else text
    return f"{text}-seat{seat}"


def _check_streams(expected: Expected, stage: Stage) -> None:
    streams = len(stage.streams)
    if expected.dials is not None:
        least, most = expected.dials
        if not least <= streams <= most:
            raise CaseFailed(f"{least} to {most} streams", f"{streams}")
    if expected.one_stream and stage.most_streams > 1:
        raise CaseFailed("one stream at a time", f"{stage.most_streams} at once")
    if expected.closed_first and stage.proxy.overlapped:
        raise CaseFailed(
            "the old connection closed before the next one is opened", "both were open"
        )
    if expected.growing_pauses:
        _check_pauses(stage.streams)


def _check_pauses(streams: Sequence[Stream]) -> None:
    """Check that the pauses between streams grow from the first one to the longest one.

    A busy machine makes a single pause longer, but never shorter. So every pause has a minimum. The
    maximum is laxer: the time for which the program or the referee ran, or waited for a processor,
    is subtracted first, and of the first two and of the last two pauses, only one has to stay
    within it.
    """
    pauses = [
        later.opened_at - (earlier.ended_at or later.opened_at)
        for earlier, later in pairwise(streams)
    ]
    idle = [
        pause - (later.opened_busy_s - earlier.ended_busy_s)
        for pause, (earlier, later) in zip(pauses, pairwise(streams), strict=True)
    ]
    shown = ", ".join(f"{pause:.2f}" for pause in pauses) + " s"
    first, last = min(idle[:2]), min(idle[-2:])
    if first > _FIRST_PAUSE_S + _ALLOWANCE_S or last > _LONGEST_PAUSE_S + _ALLOWANCE_S:
        raise CaseFailed("pauses of 0.1 s at first and 2 s at most", shown)
    demanded = _FIRST_PAUSE_S
    for stream, pause in zip(streams[1:], pauses, strict=True):
        if pause < _SHORTEST * demanded:
            raise CaseFailed("pauses that grow", shown)
        attempt = pause + (stream.ended_at or stream.opened_at) - stream.opened_at
        # After an attempt that took long, a client may begin with the first pause again.
        demanded = _FIRST_PAUSE_S if attempt > _LONGEST_PAUSE_S else 2 * demanded
        demanded = min(demanded, _LONGEST_PAUSE_S)
