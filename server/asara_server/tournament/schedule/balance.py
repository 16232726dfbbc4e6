"""Balanced schedules: so many blocks per entry, where all groups would be too many. Pure.

What is guaranteed for groups of k among n entries:

- Every entry is in `blocks_per_entry` of them; fewer than k entries are in one more, where the
  seats do not come out even otherwise.
- k = 2: every pair meets equally often, give or take one.
- k = 3 and 4: the same wherever the search finds it, as it mostly does. For some numbers there is
  no such schedule. Then no two pairs differ by more than two meetings: no theorem, but what the
  tests find for all sizes that they try, up to 200 entries.

The same arguments give the same groups: the search throws dice, but always the same ones.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import heappop, heapreplace
from itertools import combinations
from math import comb, exp
from random import Random
from typing import Final

_Group = list[int]

#: Steps of each search; about a second together, however many the entries.
_STEPS: Final = 300_000
_CYCLIC_STEPS: Final = 40_000
#: Up to so many groups it is worth while to begin without any order as well, and to begin again.
_FEW: Final = 400
_AGAIN: Final = 4
#: By how much numbers of meetings may differ.
_GAP: Final = 2
#: The change for the worse that is often accepted at the start of a search.
_HEAT: Final = 0.5
#: So many groups cool down in so many steps; more need less heat, and are ordered in stretches.
_LONG: Final = 2_000


@lru_cache(maxsize=16)  # rule sets differ, and the groups by which they are played do not
def balanced_groups(n: int, k: int, blocks_per_entry: int) -> tuple[tuple[int, ...], ...]:
    """Groups of `k` among `n`, so ordered that everybody's turns are spread evenly."""
    times, rest = divmod(blocks_per_entry, comb(n - 1, k - 1))
    groups = even_groups(n, k) * times if times else []
    if rest:
        some = _pairs(n, rest) if k == 2 else _search(n, k, rest)
        groups.extend(_spread(n, some))
    return tuple(groups)


def balanced_count(n: int, k: int, blocks_per_entry: int) -> int:
    """How many groups `balanced_groups` gives."""
    return -(-n * blocks_per_entry // k)


def even_groups(n: int, k: int) -> list[tuple[int, ...]]:
    """All groups of `k` among `n`, so ordered that everybody's turns are spread evenly.

    Seen on a circle of n, groups of one shape follow each other, each one step on: within a shape
    everybody takes part, and stands at each place of the tuple, equally often.
    """
    groups: list[tuple[int, ...]] = []
    for shape in combinations(range(n), k):
        if shape[0] != 0:
            break  # every shape has a member that holds 0
        turned = [tuple(sorted((place - to) % n for place in shape)) for to in shape]
        if shape == min(turned):
            length = n // turned.count(shape)  # shorter for a shape that repeats on the circle
            groups.extend(tuple((place + step) % n for place in shape) for step in range(length))
    return groups


def meetings(n: int, groups: Iterable[Iterable[int]]) -> list[list[int]]:
    """How often each two of `n` are in a group together, by both."""
    met = [[0] * n for _ in range(n)]
    for group in groups:
        for one, other in combinations(group, 2):
            met[one][other] += 1
            met[other][one] += 1
    return met


def _pairs(n: int, each: int) -> list[_Group]:
    """Pairs in which everybody is so often, or one once more; none occurs twice.

    On a circle of n, all pairs of one distance have everybody twice. Where that is one too many,
    opposite places have everybody once; on an odd circle, every other pair of neighbours.
    """
    first = 1 + n % 2
    distances = range(first, first + each // 2)
    pairs = [[i, (i + distance) % n] for distance in distances for i in range(n)]
    if each % 2:
        once = [[i, (i + 1) % n] for i in range(0, n, 2)]
        pairs += once if n % 2 else [[i, i + n // 2] for i in range(n // 2)]
    return pairs


def _search(n: int, k: int, each: int) -> list[_Group]:
    """The groups whose meetings are balanced best, of those that were tried."""
    count = balanced_count(n, k, each)
    dice = Random(0).random  # always the same
    heat = _HEAT * min(1.0, _LONG / count)  # a long schedule has no time to cool down
    tries = [(each // k, heat)]
    if count <= _FEW:
        tries = [(0, 2 * heat), *tries, *[(0, 2 * heat)] * _AGAIN]
    best: list[_Group] = []
    best_gap = count + 1
    for number, (shapes, warmth) in enumerate(tries):
        groups = _cyclic(n, k, shapes, dice)
        met = meetings(n, groups)
        _fill(n, k, groups, met, count)
        if _gap(met) < best_gap:
            best, best_gap = [list(group) for group in groups], _gap(met)
        _improve(n, k, groups, met, warmth, dice)
        if _gap(met) < best_gap:
            best, best_gap = groups, _gap(met)
        if best_gap <= 1 or (number and best_gap <= _GAP):
            break
    return best


def _gap(met: list[list[int]]) -> int:
    """By how much the numbers of meetings differ."""
    numbers = [number for one, row in enumerate(met) for number in row[:one]]
    return max(numbers) - min(numbers)


def _fill(n: int, k: int, groups: list[_Group], met: list[list[int]], count: int) -> None:
    """Add groups up to `count`, always of those with the fewest, then of those who met least."""
    turns = [0] * n
    while len(groups) < count:
        left = set(range(n))
        known = [0] * n
        group: _Group = []
        for _ in range(k):
            chosen = min(left, key=lambda i: (turns[i], known[i], i))
            left.remove(chosen)
            group.append(chosen)
            row = met[chosen]
            for i in left:
                known[i] += row[i]
        for one in group:
            turns[one] += 1
            for other in group:
                met[one][other] += one != other
        groups.append(group)


def _improve(
    n: int,
    k: int,
    groups: list[_Group],
    met: list[list[int]],
    heat: float,
    dice: Callable[[], float],
) -> None:
    """Let two groups exchange a member, again and again, while that evens out the meetings.

    Simulated annealing of the sum of squared meetings, down to the least that it may be; who is in
    how many groups stays.
    """
    pairs = comb(n, 2)
    fewest, more = divmod(len(groups) * comb(k, 2), pairs)
    least = (pairs - more) * fewest**2 + more * (fewest + 1) ** 2
    excess = sum(met[i][j] ** 2 for i in range(n) for j in range(i)) - least
    total = len(groups)
    for step in range(_STEPS):
        if not excess:
            break
        one, two = groups[int(dice() * total)], groups[int(dice() * total)]
        i, j = int(dice() * k), int(dice() * k)
        a, b = one[i], two[j]
        if a in two or b in one:
            continue
        met_a, met_b = met[a], met[b]
        left = [c for c in one if c != a and c not in two]
        come = [c for c in two if c != b and c not in one]
        change = sum(met_b[c] - met_a[c] + 1 for c in left)
        change += sum(met_a[c] - met_b[c] + 1 for c in come)
        warmth = heat * (1 - step / _STEPS) + 0.05
        if change > 0 and dice() >= exp(-2 * change / warmth):
            continue
        for c, by in (*((c, 1) for c in left), *((c, -1) for c in come)):
            met_a[c] -= by
            met[c][a] -= by
            met_b[c] += by
            met[c][b] += by
        one[i], two[j] = b, a
        excess += 2 * change


def _cyclic(n: int, k: int, shapes: int, dice: Callable[[], float]) -> list[_Group]:
    """So many shapes, each in all n places of a circle; everybody is k times in each.

    How often two meet then depends on their distance alone: there are few distances, so that even
    long schedules are balanced quickly.
    """
    half = n // 2
    distance = [min(d, n - d) for d in range(n)]
    #: Opposite places are half as many pairs as those of another distance, and meet twice each.
    weight = [2 if 2 * d == n else 1 for d in range(half + 1)]
    times = [0] * (half + 1)

    def add(place: int, others: Iterable[int], by: int) -> int:
        """Count one place in or out; returns the change of the sum of squares."""
        change = 0
        for other in others:
            d = distance[place - other]
            change += weight[d] * (2 * by * times[d] + 1)
            times[d] += by
        return change

    def cost(place: int, others: Iterable[int]) -> int:
        return sum(weight[d] * (2 * times[d] + 1) for d in (distance[place - o] for o in others))

    found: list[_Group] = []
    for _ in range(shapes):
        shape = [0]
        while len(shape) < k:
            rest = (place for place in range(n) if place not in shape)
            place = min(rest, key=lambda place: cost(place, shape))
            add(place, shape, 1)
            shape.append(place)
        found.append(shape)
    best = [list(shape) for shape in found]
    excess = least = 0
    for step in range(_CYCLIC_STEPS if shapes else 0):
        shape = found[int(dice() * shapes)]
        i, new = 1 + int(dice() * (k - 1)), int(dice() * n)
        if new in shape:
            continue
        old = shape[i]
        others = [place for place in shape if place != old]
        change = add(old, others, -1) + add(new, others, 1)
        warmth = 2 * (1 - step / _CYCLIC_STEPS) + 0.05
        if change > 0 and dice() >= exp(-change / warmth):
            add(new, others, -1)
            add(old, others, 1)
            continue
        shape[i] = new
        excess += change
        if excess < least:
            best, least = [list(shape) for shape in found], excess
    return [[(place + turn) % n for place in shape] for shape in best for turn in range(n)]


def _spread(n: int, groups: Sequence[_Group]) -> Iterator[tuple[int, ...]]:
    """The same groups, always next one whose members have had the fewest turns.

    A long schedule is gone through in stretches, for each of them is about even already.
    """
    turns = [0] * n
    for start in range(0, len(groups), _LONG):
        stretch = enumerate(groups[start : start + _LONG])
        waiting = [(0, number, tuple(group)) for number, group in stretch]
        while waiting:
            before, number, group = waiting[0]
            had = [turns[one] for one in group]
            now = max(had) + min(had)
            if now > before:
                heapreplace(waiting, (now, number, group))
                continue
            heappop(waiting)
            yield group
            for one in group:
                turns[one] += 1
