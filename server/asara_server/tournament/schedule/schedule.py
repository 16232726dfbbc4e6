"""The schedule: groups of entries, their seats and rules, and the order of play. Pure.

The unit is the block. A block of one group has a single group of entries that fills a table, and a
single combination of rule sets. It has one match for each required seat order, so that each entry
sits in each seat equally often. The matches of a mirrored block share one deal; otherwise each
match has its own (see `match.deal_secrets`). A block is not mirrored if one of its entries could
recognise a deal.

A duplicate block plays one deal once at each of several tables, and each entry sits at no more than
one of these tables. Its seats are balanced over the blocks (see `seated`). `legs` decides when
matches with a shared deal are played. A match that is repeated because the referee failed keeps its
deal.

In a full schedule, every group of entries plays every kind of table in every round. Alternatively,
each entry has a given number of blocks, which `blocks` selects. Team-mates are never
in one block, and so never at one table.

The order is even. Kinds of tables progress together, within a kind all entries play about equally
often in any stretch, and the matches of a block are consecutive. The standings of a run that was
cut short are therefore still a fair comparison.

A run may end early at a look at its results. Looking after every match, and stopping when the
results are clear, gives more errors than the intervals promise. The results are therefore looked at
only a few times. The match counts for these looks are fixed before the first match and grow by half
each time. The looks share the 5 % of errors. With eight looks, every interval, and all rank sets of
a look together, have an error of 0.625 % (Bonferroni). At whichever look the run ends, they are
thus wrong in at most 5 % of runs. This takes about twice as many blocks as a single look.
Confidence sequences allow a look after every block (Waudby-Smith and Ramdas, "Estimating Means of
Bounded Random Variables by Betting", 2024). However, they cost at least as much, and there are none
for the ranks of several entries that meet in a block.

A look follows a whole round, in which all groups have met, or a block if there is only one round.
"""

import hashlib
import hmac
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Final, NamedTuple

from asara_game.rules import format_rule_sets
from asara_game.vocabulary import RuleSet
from asara_server.tournament.config.block_kinds import BlockKind
from asara_server.tournament.schedule.blocks import Block
from asara_server.tournament.schedule.layout import Layout, blocks_of, names_by_kind, rotate

_LOOKS: Final = 8
_GROWTH: Final = 1.5


@dataclass(frozen=True, slots=True)
class ScheduledMatch:
    """A match of the schedule, with its entries in seat order."""

    match_id: str
    """Block name and match number within the block, such as `r1-pro+gifts-0007-2`."""
    round: int
    rule_sets: frozenset[RuleSet]
    entries: tuple[str, ...]
    """Names of the entries, by seat."""
    block: str = ""
    """Round, rule sets and block number, such as `r1-pro+gifts-0007`.

    Empty for a match outside any block.
    """
    kind: BlockKind = "independent"
    """"duplicate" or "mirrored" if the block's matches share a deal."""

    @property
    def shared_deal(self) -> str:
        """Name of the shared deal, or "" if no other match has the same deal."""
        return "" if self.kind == "independent" else self.block

    @property
    def deal_block(self) -> str:
        """Name of the block; for a match outside any block, the match's own name."""
        return self.block or self.match_id


MAX_ATTEMPTS: Final = 3
"""Number of attempts at a match: if the referee fails in all of them, the match stays void."""


class Attempt(NamedTuple):
    """An attempt at a match; the next one follows if the referee fails."""

    match: ScheduledMatch
    number: int = 1

    @property
    def name(self) -> str:
        """Match ID of this attempt, as used by bots, the journal and the replay."""
        return attempt_name(self.match.match_id, self.number)

    def to_last(self) -> Iterator["Attempt"]:
        """Yield this attempt, and those that follow if the referee keeps failing."""
        for number in range(self.number, MAX_ATTEMPTS + 1):
            yield Attempt(self.match, number)


def attempt_name(match_id: str, number: int) -> str:
    """Return the match ID of an attempt. Later attempts have a suffix; the first has none."""
    return match_id if number == 1 else f"{match_id}.{number}"


def list_matches(
    entries: Sequence[str],
    seats: Sequence[int],
    rule_sets: Sequence[frozenset[RuleSet]],
    layout: Layout | None = None,
    *,
    remote: Collection[str] = (),
) -> list[ScheduledMatch]:
    """Return all matches, in the order of play.

    By default, every group of entries is a block in which each match has its own deal. The process
    of a `remote` entry is on another machine and lives for the whole run. Therefore, each match of
    its mirrored blocks has its own deal, and in duplicate blocks all remote entries share one table
    if possible.
    """
    layout = layout or Layout(("",) * len(entries))
    kinds = [(rules, k) for rules in rule_sets for k in seats]
    blocks = [blocks_of(layout, k) for _, k in kinds]
    names = names_by_kind(entries, layout, blocks)
    apart = frozenset(remote)
    if layout.blocks == "duplicate":
        blocks = [
            blocks_of(layout, k, frozenset(n for n, name in enumerate(named) if name in apart))
            for (_, k), named in zip(kinds, names, strict=True)
        ]
    return [
        match
        for number in range(1, layout.rounds + 1)
        for match in _one_round(number, kinds, blocks, names, layout.blocks, apart)
    ]


def rotated(
    entries: Sequence[str],
    rule_sets: frozenset[RuleSet],
    matches: int | None,
    *,
    mirrored: bool = False,
) -> Iterator[ScheduledMatch]:
    """Yield this many matches of one table, or endlessly; entries move one seat on after each
    match.

    If `mirrored`, each complete rotation of the entries over the seats forms a block. Otherwise,
    every match is outside any block.
    """
    rules = format_rule_sets(rule_sets)
    for index in count() if matches is None else range(matches):
        number, turn = index // len(entries) + 1, index % len(entries)
        block = f"r{number}-{rules}-{number:04}" if mirrored else ""
        match_id = f"{block}-{turn + 1}" if mirrored else f"r{number}-{rules}-{index + 1:04}"
        kind: BlockKind = "mirrored" if mirrored else "independent"
        yield ScheduledMatch(match_id, number, rule_sets, rotate(entries, turn), block, kind)


def looks_at(schedule: Sequence[ScheduledMatch]) -> tuple[int, ...]:
    """Return the match counts at which results are looked at; the last is the whole schedule."""
    one_round = schedule[0].round == schedule[-1].round
    return looks_of([match.deal_block if one_round else str(match.round) for match in schedule])


def looks_of(parts: Sequence[str]) -> tuple[int, ...]:
    """Return the looks for matches that come in these parts; each part is played whole."""
    ends = [number for number, (one, other) in enumerate(pairwise(parts), 1) if one != other]
    ends.append(len(parts))
    wanted = {math.ceil(len(ends) / _GROWTH**look) for look in range(_LOOKS)}
    return tuple(ends[number - 1] for number in sorted(wanted))


def bot_seed(seed: str, entry: str) -> int:
    """Return the 63-bit seed of an entry's bots; a strong `seed` cannot be found from it.

    The seed is the same in all matches of the run, so it does not reveal which matches form a
    block.
    """
    label = f"asara/tournament/bot/{entry}".encode()
    return int.from_bytes(hmac.digest(seed.encode(), label, hashlib.sha256)[:8]) >> 1


def _one_round(
    number: int,
    kinds: Sequence[tuple[frozenset[RuleSet], int]],
    blocks: Sequence[Sequence[Block]],
    names: Sequence[Sequence[str]],
    block_kind: BlockKind,
    remote: frozenset[str],
) -> Iterator[ScheduledMatch]:
    order = sorted(
        ((index + 0.5) / len(blocks[kind]), kind, index)
        for kind in range(len(kinds))
        for index in range(len(blocks[kind]))
    )
    width = max(4, len(str(len(order))))
    counts = dict.fromkeys((rules for rules, _ in kinds), 0)
    for _, kind, index in order:
        rules, _ = kinds[kind]
        counts[rules] += 1
        name = f"r{number}-{format_rule_sets(rules)}-{counts[rules]:0{width}}"
        named = names[kind]
        tables = [tuple([named[entry] for entry in table]) for table in blocks[kind][index]]
        own_kind = block_kind
        if block_kind == "duplicate":
            # Seats are balanced within a round; later rounds rotate them.
            tables = [rotate(table, number - 1) for table in tables]
        elif block_kind == "mirrored" and not remote.isdisjoint(tables[0]):
            own_kind = "independent"
        digits = len(str(len(tables)))
        for turn, table in enumerate(tables):
            match_id = f"{name}-{turn + 1:0{digits}}"
            yield ScheduledMatch(match_id, number, rules, table, name, own_kind)
