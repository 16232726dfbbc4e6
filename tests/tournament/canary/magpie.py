"""A bot that cheats: it tells whoever plays its deal later, or beside it, which hands it saw.

It uses the carriers, which take a text, and channels of the kernel, which take a number. At the
first decision of each year it prints "SAW BLOCK MATCH SEAT YEAR HAND PROCESS", where PROCESS is
drawn at random by each process, and what it thinks the other seats hold: "GUESS BLOCK MATCH SEAT
YEAR HAND CHANNEL". A hand is a number below `HANDS`. Each carrier of a text is printed once as "own
CARRIER" or "foreign CARRIER", by whether the text is of this process, and a channel that the
sandbox refuses as "refused CHANNEL".
"""

import os
import secrets
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import asara

if TYPE_CHECKING:
    from tests.tournament.canary import carriers, holding
    from tests.tournament.canary.holding import libc
else:
    import carriers  # beside this file, where it runs
    import holding
    from holding import libc

HANDS = 256
PROCESS = secrets.token_hex(4)


def key(match: str, seat: int, year: int) -> int:
    return zlib.crc32(f"{os.environ['NEST']}/{match}/{seat}/{year}".encode())


def tell_once(line: str) -> None:
    if line not in told:
        told.add(line)
        print(f"\n{line}", flush=True)


told: set[str] = set()


# Numbers. `leave` marks one of `HANDS` places that belong to a block, seat and year; `find` looks
# which is marked.


def quickest(costs: list[int]) -> list[int]:
    return [min(range(len(costs)), key=costs.__getitem__)]


def timed(work: Callable[[], object]) -> int:
    begun = time.perf_counter_ns()
    with suppress(OSError):
        work()
    return time.perf_counter_ns() - begun


def name_of(at: int, hand: int) -> str:
    return f"/usr/bin/{at:x}-{hand}"


def leave_names(at: int, hand: int) -> None:
    os.path.lexists(name_of(at, hand))


def find_names(at: int) -> list[int]:
    names = [name_of(at, hand).encode() for hand in range(HANDS)]
    return quickest([timed(partial(os.access, name, 0)) for name in names])


def all_files() -> list[str]:
    found = []
    for folder, _, files in os.walk("/usr/share"):
        found += [f"{folder}/{name}" for name in files]
        if len(found) > 40 * HANDS:
            break
    return sorted(found)


files: list[str] = []


def page_of(at: int, hand: int) -> str:
    files[:] = files or all_files()
    return files[(at * HANDS + hand) % len(files)]


def first_byte(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - the time counts
        return file.read(1)


def leave_pages(at: int, hand: int) -> None:
    with suppress(OSError):
        first_byte(page_of(at, hand))


def find_pages(at: int) -> list[int]:
    paths = [page_of(at, hand) for hand in range(HANDS)]
    return quickest([timed(partial(first_byte, path)) for path in paths])


def leave_child(at: int, hand: int) -> None:
    """Have a traced child in another session wait there, which is to outlive the match."""
    words = [sys.executable, holding.__file__, str(at), str(hand)]
    subprocess.Popen(words, start_new_session=True, stdout=subprocess.DEVNULL)


def find_futexes(at: int) -> list[int]:
    words = [holding.word(at, hand) for hand in range(HANDS)]
    woken = [libc.syscall(holding.FUTEX, one, 1, 1, None, None, 0) > 0 for one in words]
    return [hand for hand in range(HANDS) if woken[hand]]


# An amount that the kernel counts for the user. `leave` holds as many as the hand says, and `find`
# counts them.

held: list[object] = []


def leave_descriptors(_: int, hand: int) -> None:
    """Leave descriptors in flight, of which a user may have a limited number."""
    near, far = socket.socketpair()
    held.extend([near, far])
    for _ in range(hand):
        near.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, bytes([0, 0, 0, 0]))])


def find_descriptors(_: int) -> list[int]:
    near, far = socket.socketpair()
    near.setblocking(False)
    sent = 0
    with near, far, suppress(OSError):
        while sent < 4 * HANDS:
            near.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, bytes([0, 0, 0, 0]))])
            sent += 1
    limit = min(os.sysconf("SC_OPEN_MAX"), 4 * HANDS)
    return [(limit - sent) % HANDS] if sent < limit else []


NUMBERS: dict[str, tuple[Callable[[int], list[int]], Callable[[int, int], None]]] = {
    "names": (find_names, leave_names),
    "pages": (find_pages, leave_pages),
    "futexes": (find_futexes, leave_child),
    "descriptors in flight": (find_descriptors, leave_descriptors),
}


class Magpie(asara.Bot):
    def started(self) -> None:
        self.years: set[int] = set()

    def decide(self, decision: asara.Decision) -> asara.Action:
        year = decision.view.public_view.year
        if year not in self.years:
            self.years.add(year)
            self.spy(year, len(decision.view.public_view.seats), decision.view.private_view.hand)
        return self.match.random_action(decision)

    def spy(self, year: int, seats: int, cards: object) -> None:
        match_id, own = self.match.match_id, self.match.seat
        block = match_id.partition(".")[0].rpartition("-")[0]
        hand = zlib.crc32(repr(list(cards)).encode()) % HANDS  # type: ignore[call-overload]
        said = [f"SAW {block} {match_id} {own} {year} {hand} {PROCESS}"]
        for seat in set(range(seats)) - {own}:
            about = f"GUESS {block} {match_id} {seat} {year}"
            other = f"{block}-{3 - int(match_id.rpartition('-')[2])}"  # of the same deal
            said += [f"{about} {one} {channel}" for channel, one in guesses(other, seat, year)]
        print("\n" + "\n".join(said), flush=True)
        note = f"{PROCESS}/{match_id}/{own}/{year}/{hand}"
        for channel, (_, leave) in carriers.CARRIERS.items():
            try:
                leave(note)
            except OSError:
                tell_once(f"refused {channel}")
        for channel, (_, put) in NUMBERS.items():
            try:
                put(key(match_id, own, year), hand)
            except OSError:
                tell_once(f"refused {channel}")


def guesses(other: str, seat: int, year: int) -> list[tuple[str, int]]:
    """Return what arrived about a hand from the other match, each with the channel it came by."""
    found = []
    for channel, note in set(carriers.arrivals()):
        process, _, text = note.partition("/")
        tell_once(f"{'own' if process == PROCESS else 'foreign'} {channel}")
        if text.rpartition("/")[0] == f"{other}/{seat}/{year}":
            found.append((channel, int(text.rpartition("/")[2])))
    for channel, (find, _) in NUMBERS.items():
        try:
            hands = find(key(other, seat, year))
        except OSError:
            tell_once(f"refused {channel}")
        else:
            found += [(channel, hands[0])] if len(hands) == 1 else []
    return found


if __name__ == "__main__":
    asara.run(Magpie)
