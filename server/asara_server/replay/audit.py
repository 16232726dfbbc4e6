"""Check a replay without trusting whoever made it, but for the key that signed it.

What the file says of itself is checked first: frames, chain, signature, commitment. Then the match
is driven again by the code that plays matches, and has to come out the same: whose turn it was,
which actions were legal, what every decision cost, who ran out of time and when, scores, ranks, and
every byte that every seat was sent.
"""

from typing import NamedTuple

from asara_server.eventlog.header import ReplayError
from asara_server.eventlog.resimulate import UnsoundError, check_end, resimulate_record
from asara_server.match.deal_secrets import secret_of
from asara_server.match.match import Match
from asara_server.replay.file import ReplayFile, parse_file
from asara_server.replay.leaks import leak_fault
from asara_server.replay.signing import fingerprint


class Verdict(NamedTuple):
    """What an audit found."""

    fault: str | None
    """The first record that does not hold, what was expected and what was found; None if sound."""
    public_key: bytes = b""
    """Of whoever signed; empty where the file could not be read so far."""


def audit(
    data: bytes,
    public_key: bytes | None = None,
    *,
    tournament_secret: bytes | None = None,
    worlds: int = 0,
) -> Verdict:
    """The verdict on the content of a file that the owner of this key should have signed.

    Without a key, whoever signed is believed; `Verdict.public_key` tells who it was. With the
    secret of a tournament, the deal has to follow from it. With `worlds`, so many are tried at
    every decision, for every seat, to see whether it was told too much.
    """
    try:
        file = parse_file(data)
    except ReplayError as error:
        return Verdict(str(error))
    signer = file.signature.public_key
    if public_key is not None and signer != public_key:
        other = (
            f"{file.raw[-1].place}: expected a signature by key {fingerprint(public_key)}; "
            f"found one by key {fingerprint(signer)}: somebody else vouches for this file"
        )
        return Verdict(other, signer)
    fault = _signature_fault(file)
    driven = _secret_fault(file, tournament_secret) or _drive_fault(file)
    if fault and driven:
        # the first record that does not hold is in front of the signature
        return Verdict(f"{driven}; nor does the signature hold", signer)
    if not (driven or fault) and worlds:
        fault = leak_fault(file, worlds)
    return Verdict(driven or fault, signer)


def _signature_fault(file: ReplayFile) -> str | None:
    try:
        file.check_signature()
    except ReplayError as error:
        return str(error)
    return None


def _secret_fault(file: ReplayFile, tournament_secret: bytes | None) -> str | None:
    """Whether somebody chose the deal of this match: its secret has to be the tournament's."""
    if tournament_secret is None:
        return None
    header = file.replay.header
    place = file.raw[0].place
    block = header.mirrored_block
    if block and not header.match_id.startswith(f"{block}-"):
        return f"{place}: expected a match of the block {block}; found {header.match_id}"
    expected = secret_of(tournament_secret, header.match_id, block)
    if header.deal_secret == expected:
        return None
    return (
        f"{place}: the deal does not follow from the secret of the tournament: "
        f"expected the match's secret {expected.hex()}, found {header.deal_secret.hex()}"
    )


def _drive_fault(file: ReplayFile) -> str | None:
    replay = file.replay
    try:
        match = Match(replay.header.spec(), replay.header.limits())
        for index, record in enumerate(replay.records):
            resimulate_record(match, index, record)
            match.outbox.clear()
        check_end(match, replay)
    except UnsoundError as error:
        return str(file.raw[error.index + 1].error(error.fault))
    return None
