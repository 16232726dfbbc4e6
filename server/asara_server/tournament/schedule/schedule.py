"""The schedule: groups, their seats and rules, the order of play and the expected duration. Pure.

The unit is the block. A block of one group has a single group of entries that fills a table, and a
single combination of rule sets. It has one match for each required seat order, so that each entry
sits in each seat equally often. The matches of a mirrored block share one deal; otherwise each
match has its own (see `match.deal_secrets`). A block is not mirrored if one of its entries could
recognise a deal.

A duplicate block plays one deal once at each of several tables, and each entry sits at no more than
one of these tables. Its seats are balanced over the blocks (see `seated`).

Anyone who has seen a deal could reveal it to bots that have yet to play it. Therefore, no bot that
has seen a deal may still be alive when the deal is played again. The blocks of a run are played in
groups, and the matches of a group in legs. A leg has at most one match of each block, so all its
deals are different. After a leg, every bot process on the machine is ended before the next leg
begins.

The leg in which each match of a block is played rotates over the blocks, so that no leg favours a
seat. Smaller blocks are spread over the legs. A match that is repeated because the referee failed
keeps its deal, and is played after all others of its group. Matches with remote bots also come
last, because nobody here can end a remote bot.

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

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise
from typing import Final, NamedTuple

from asara_game.rules import format_rule_sets
from asara_game.vocabulary import RuleSet
from asara_server.tournament.config.fields import BlockKind
from asara_server.tournament.config.tournament_file import Tournament
from asara_server.tournament.schedule.blocks import Block
from asara_server.tournament.schedule.layout import (
    Layout,
    TableKind,
    blocks_of,
    names_by_kind,
    rotate,
    table_kinds,
)

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


def planned_matches(tournament: Tournament) -> list[ScheduledMatch]:
    """Return all matches of a tournament, in the order of play."""
    return list_matches(
        [entry.name for entry in tournament.entries],
        tournament.seats,
        tournament.rules,
        Layout.of(tournament.teams, tournament),
        remote=tournament.remote_entries,
    )


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
    one_round = len({match.round for match in schedule}) <= 1
    return looks_of([match.deal_block if one_round else str(match.round) for match in schedule])


def looks_of(parts: Sequence[str]) -> tuple[int, ...]:
    """Return the looks for matches that come in these parts; each part is played whole."""
    ends = [number for number, (one, other) in enumerate(pairwise(parts), 1) if one != other]
    ends.append(len(parts))
    wanted = {math.ceil(len(ends) / _GROWTH**look) for look in range(_LOOKS)}
    return tuple(ends[number - 1] for number in sorted(wanted))


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


# Legs

DEFAULT_MATCH_S: Final = 1.0
LEG_S: Final = 30.0
LEG_MATCHES: Final = 16


def with_own_deals(
    schedule: Sequence[ScheduledMatch], matches: Collection[str]
) -> Sequence[ScheduledMatch]:
    """Return the schedule with new deals for these matches, which no other match shares."""
    if not matches:
        return schedule
    return [
        replace(match, kind="independent") if match.match_id in matches else match
        for match in schedule
    ]


def group_size(blocks_left: int, concurrency: int, match_s: float) -> int:
    """Return the number of blocks in the next group; a leg plays one match of each block.

    For each concurrent match, a leg has 16 matches, or as many as 30 seconds allow if these are
    more. Starting bots and waiting for the last match of a leg thus take a small share of the time.
    All groups of the run have about the same size.
    """
    each = max(LEG_MATCHES, LEG_S / max(match_s, 0.001))
    groups = max(int(blocks_left / (each * concurrency)), 1)
    return math.ceil(blocks_left / groups)


def next_leg(
    group: Sequence[Sequence[ScheduledMatch]],
    attempts: Mapping[str, int],
    remote: Collection[str] = (),
) -> list[Attempt]:
    """Return the attempts of the next leg of a group of blocks; none if the group is over.

    `attempts` maps each pending match to the number of its next attempt. `remote` are the entries
    on other machines.
    """
    legs, away = max(map(len, group), default=0), set(remote)
    following: list[tuple[int, Attempt]] = []
    """The next match of each block, with its leg."""
    for index, block in enumerate(group):
        pending = []
        for number, match in enumerate(block):
            attempt = attempts.get(match.match_id)
            if attempt is None:
                continue
            leg = (number * legs // len(block) + index) % legs
            if attempt > 1:
                leg = legs
            if not away.isdisjoint(match.entries):
                leg = legs + 1
            pending.append((leg, Attempt(match, attempt)))
        if pending:
            following.append(min(pending, key=lambda one: one[0]))
    first = min((leg for leg, _ in following), default=0)
    return [attempt for leg, attempt in following if leg == first]


# Estimates

MOST_MATCHES = 1_000_000
"""Maximum number of matches in a schedule that can be listed and played."""

_DECISIONS = {2: 70, 3: 60, 4: 50}
"""Approximate decisions per random bot in a basic match, by number of seats."""

_PROFESSIONAL = 1.3
"""Factor for the number of decisions under the professional rules."""

START_S = 0.3
"""Assumed core seconds to start a Python bot."""

EXCHANGE_S = 0.001
"""Assumed core seconds of the referee and a bot's client for each decision."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Expected size and duration of a tournament."""

    kinds: tuple[TableKind, ...]
    legs: int
    """Number of legs in which the blocks of a group are played."""
    group: int
    """Approximate number of blocks in a group."""
    likely_s: float
    """Seconds if a bot takes a millisecond for every decision, with its starts and the referee."""
    slow_s: float
    """Seconds if a bot takes 100 ms for every decision, with its starts and the referee."""
    longest_s: float
    """Seconds if every bot uses up its clock in every match."""

    @property
    def blocks(self) -> int:
        return sum(kind.blocks for kind in self.kinds)

    @property
    def matches(self) -> int:
        return sum(kind.matches for kind in self.kinds)


def estimate(tournament: Tournament) -> Estimate:
    """Estimate the size and duration of a tournament."""
    layout = Layout.of(tournament.teams, tournament)
    kinds = table_kinds(layout, tournament.seats, tournament.rules)
    clocks = tournament.clocks
    longest_decision_s = clocks.increment_s + clocks.grace_s
    likely = slow = longest = 0.0
    for kind in kinds:
        decisions = _DECISIONS[kind.seats]
        if RuleSet.PROFESSIONAL in kind.rule_sets:
            decisions = round(decisions * _PROFESSIONAL)
        likely += kind.matches * kind.seats * decisions * (0.001 + EXCHANGE_S)
        slow += kind.matches * kind.seats * decisions * (0.1 + EXCHANGE_S)
        seat_s = clocks.time_bank_s + decisions * longest_decision_s
        longest += kind.matches * (clocks.start_up_s + kind.seats * seat_s)
    jobs, blocks = tournament.jobs, sum(kind.blocks for kind in kinds)
    legs, group = 1, blocks
    if tournament.blocks != "independent":
        legs = max(-(-kind.matches // kind.blocks) for kind in kinds if kind.blocks)
        group = group_size(blocks, jobs, likely / max(sum(kind.matches for kind in kinds), 1))
    seats, entries = sum(kind.matches * kind.seats for kind in kinds), len(tournament.entries)
    kept = min(legs * math.ceil(blocks / max(group, 1)) * entries, seats)  # none outlives a leg
    starts = sum(kept if one == "run" else seats for one in tournament.process_policies.values())
    start = START_S * starts / entries
    return Estimate(
        tuple(kinds), legs, group, (likely + start) / jobs, (slow + start) / jobs, longest / jobs
    )
