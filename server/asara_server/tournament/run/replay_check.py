"""Compares the files in `replays` with `results.jsonl`, by name and content. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from asara_server.tournament.run.run_files import RESULTS, SUFFIX, Line


def replay_faults(
    lines: Sequence[Line], replays: Mapping[str, str], *, withheld: Collection[str]
) -> Iterator[str]:
    """Yield replays that are missing, extra, renamed, copied, exchanged or changed.

    `replays` has the SHA-256 of each file by its name without the suffix; a replay whose name is in
    `withheld` may be missing.
    """
    expected = {
        line.result.played_as: line.result.replay_sha256 for line in lines if not line.result.void
    }
    names = {digest: name for name, digest in expected.items()}
    holders: dict[str, list[str]] = {}
    for name, digest in replays.items():
        holders.setdefault(digest, []).append(name)
    for name, digest in expected.items():
        if name not in replays:
            others = [other for other in holders.get(digest, ()) if other not in expected]
            if others:
                yield f"{_file(name)}: renamed to {_file(others[0])}"
            elif name not in withheld:
                yield f"{_file(name)}: missing, although {RESULTS} has its result"
        elif replays[name] != digest:
            yield _changed(name, digest, replays, names)
    for name, digest in replays.items():
        if name not in expected:
            original = names.get(digest)
            if original is None:
                yield f"{_file(name)}: extra: {RESULTS} has no such attempt"
            elif original in replays:
                yield f"{_file(name)}: extra: a copy of {_file(original)}"


def _changed(name: str, digest: str, replays: Mapping[str, str], names: Mapping[str, str]) -> str:
    """Return the fault of a replay with another content than its result says."""
    found = replays[name]
    other = names.get(found)
    if other is None:
        return f"{_file(name)}: changed: expected SHA-256 {digest or 'none'}, found {found}"
    if replays.get(other) == digest:
        return f"{_file(name)}: exchanged with {_file(other)}"
    return f"{_file(name)}: replaced by a copy of {_file(other)}"


def _file(name: str) -> str:
    return f"replays/{name}{SUFFIX}"
