"""Balanced schedules: a given number of blocks per entry, for when all groups are too many. Pure.

Guarantees for groups of k among n entries:

- Every entry is in `blocks_per_entry` groups. If this would leave seats empty, fewer than k entries
  are in one more group.
- k = 2: the numbers of meetings of any two pairs differ by at most one.
- k = 3 and 4: the same, if the search finds such a schedule, as it usually does. For some sizes
  none exists. The numbers of meetings then differ by at most two. This is not a theorem, but the
  result of the tests for all sizes that they try, up to 200 entries.

The search is random with a fixed seed, so that equal arguments give equal groups. Filling groups
greedily, without any search, leaves numbers of meetings that differ by 3 to 10.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import heappop, heapreplace
from itertools import combinations
from math import comb, exp
from random import Random
from typing import Final

_Group = list[int]

_STEPS: Final = 300_000
"""Steps of each search; they take about a second for any number of entries."""
_CYCLIC_STEPS: Final = 40_000
_FEW: Final = 400
"""Maximum number of groups for which unordered starts and restarts are worthwhile."""
_RESTARTS: Final = 4
_GAP: Final = 2
"""Acceptable difference between the numbers of meetings of two pairs."""
_HEAT: Final = 0.5
"""Initial temperature: changes that make the schedule worse by this amount are often accepted."""
_LONG: Final = 2_000
"""Maximum number of groups that cool down within _STEPS.

Longer schedules start cooler and are ordered in stretches.
"""


@lru_cache(maxsize=16)  # all rule sets use the same groups
def balanced_groups(n: int, k: int, blocks_per_entry: int) -> tuple[tuple[int, ...], ...]:
    """Return groups of `k` among `n`, ordered so that each member's turns are spread evenly."""
    times, rest = divmod(blocks_per_entry, comb(n - 1, k - 1))
    groups = even_groups(n, k) * times if times else []
    if rest:
        some = _pairs(n, rest) if k == 2 else _search(n, k, rest)
        groups.extend(_spread(n, some))
    return tuple(groups)


def balanced_count(n: int, k: int, blocks_per_entry: int) -> int:
    """Return the number of groups that `balanced_groups` would return."""
    return -(-n * blocks_per_entry // k)


def even_groups(n: int, k: int) -> list[tuple[int, ...]]:
    """Return all groups of `k` among `n`, ordered so that each member's turns are spread evenly.

    Place the members on a circle of n places. The groups of one shape follow each other, each
    turned one step further. Within a shape, every member thus occurs equally often, and equally
    often at each index of the tuple.
    """
    groups: list[tuple[int, ...]] = []
    for shape in combinations(range(n), k):
        if shape[0] != 0:
            break  # every shape has a group that contains 0
        turned = [tuple(sorted((place - to) % n for place in shape)) for to in shape]
        if shape == min(turned):
            length = n // turned.count(shape)  # shorter for a shape that repeats on the circle
            groups.extend(tuple((place + step) % n for place in shape) for step in range(length))
    return groups


def meetings(n: int, groups: Iterable[Iterable[int]]) -> list[list[int]]:
    """Return how many groups each two of `n` members share, as a symmetric matrix."""
    met = [[0] * n for _ in range(n)]
    for group in groups:
        for one, other in combinations(group, 2):
            met[one][other] += 1
            met[other][one] += 1
    return met


def _pairs(n: int, each: int) -> list[_Group]:
    """Return distinct pairs so that every member is in `each` pairs, or one member in one pair
    more.

    On a circle of n places, the pairs of one distance contain every member twice. If `each` is odd,
    one more round contains every member once: pairs of opposite places, or, on an odd circle, every
    other pair of neighbours.
    """
    first = 1 + n % 2
    distances = range(first, first + each // 2)
    pairs = [[i, (i + distance) % n] for distance in distances for i in range(n)]
    if each % 2:
        once = [[i, (i + 1) % n] for i in range(0, n, 2)]
        pairs += once if n % 2 else [[i, i + n // 2] for i in range(n // 2)]
    return pairs


def _search(n: int, k: int, each: int) -> list[_Group]:
    """Return the best balanced groups that the search finds."""
    count = balanced_count(n, k, each)
    random = Random(0).random
    heat = _HEAT * min(1.0, _LONG / count)  # a long schedule has too few steps to cool down
    tries = [(each // k, heat)]
    if count <= _FEW:
        tries = [(0, 2 * heat), *tries, *[(0, 2 * heat)] * _RESTARTS]
    best: list[_Group] = []
    best_gap = count + 1
    for number, (shapes, initial_heat) in enumerate(tries):
        groups = _cyclic(n, k, shapes, random)
        met = meetings(n, groups)
        _fill(n, k, groups, met, count)
        if _gap(met) < best_gap:
            best, best_gap = [list(group) for group in groups], _gap(met)
        _improve(n, k, groups, met, initial_heat, random)
        if _gap(met) < best_gap:
            best, best_gap = groups, _gap(met)
        if best_gap <= 1 or (number and best_gap <= _GAP):
            break
    return best


def _gap(met: list[list[int]]) -> int:
    """Return the difference between the maximum and the minimum number of meetings."""
    numbers = [number for one, row in enumerate(met) for number in row[:one]]
    return max(numbers) - min(numbers)


def _fill(n: int, k: int, groups: list[_Group], met: list[list[int]], count: int) -> None:
    """Add groups up to `count`, preferring members with few groups, then few meetings."""
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
    random: Callable[[], float],
) -> None:
    """Swap members between groups to even out the meetings.

    Simulated annealing minimises the sum of squared meetings and stops at its smallest possible
    value. Each member's number of groups does not change.
    """
    pairs = comb(n, 2)
    fewest, more = divmod(len(groups) * comb(k, 2), pairs)
    least = (pairs - more) * fewest**2 + more * (fewest + 1) ** 2
    excess = sum(met[i][j] ** 2 for i in range(n) for j in range(i)) - least
    total = len(groups)
    for step in range(_STEPS):
        if not excess:
            break
        one, two = groups[int(random() * total)], groups[int(random() * total)]
        i, j = int(random() * k), int(random() * k)
        a, b = one[i], two[j]
        if a in two or b in one:
            continue
        met_a, met_b = met[a], met[b]
        left = [c for c in one if c != a and c not in two]
        come = [c for c in two if c != b and c not in one]
        change = sum(met_b[c] - met_a[c] + 1 for c in left)
        change += sum(met_a[c] - met_b[c] + 1 for c in come)
        warmth = heat * (1 - step / _STEPS) + 0.05
        if change > 0 and random() >= exp(-2 * change / warmth):
            continue
        for c, by in (*((c, 1) for c in left), *((c, -1) for c in come)):
            met_a[c] -= by
            met[c][a] -= by
            met_b[c] += by
            met[c][b] += by
        one[i], two[j] = b, a
        excess += 2 * change


def _cyclic(n: int, k: int, shapes: int, random: Callable[[], float]) -> list[_Group]:
    """Return the groups of `shapes` shapes, each turned to all n places of a circle.

    Every member is in k groups of each shape. How often two members meet depends only on their
    distance. Since there are few distances, even long schedules are balanced quickly.
    """
    half = n // 2
    distance = [min(d, n - d) for d in range(n)]
    # There are half as many pairs of opposite places as of any other distance; each meets twice.
    weight = [2 if 2 * d == n else 1 for d in range(half + 1)]
    times = [0] * (half + 1)

    def add(place: int, others: Iterable[int], by: int) -> int:
        """Add or remove a place; return the change in the sum of squares."""
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
        shape = found[int(random() * shapes)]
        i, new = 1 + int(random() * (k - 1)), int(random() * n)
        if new in shape:
            continue
        old = shape[i]
        others = [place for place in shape if place != old]
        change = add(old, others, -1) + add(new, others, 1)
        warmth = 2 * (1 - step / _CYCLIC_STEPS) + 0.05
        if change > 0 and random() >= exp(-change / warmth):
            add(new, others, -1)
            add(old, others, 1)
            continue
        shape[i] = new
        excess += change
        if excess < least:
            best, least = [list(shape) for shape in found], excess
    return [[(place + turn) % n for place in shape] for shape in best for turn in range(n)]


def _spread(n: int, groups: Sequence[_Group]) -> Iterator[tuple[int, ...]]:
    """Yield the groups, each time choosing one whose members have had the fewest turns so far.

    A long schedule is ordered one stretch at a time, which is quicker and almost as even.
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
