"""What a seat knows about lit windows, from the events of a match and its own views.

Which places in the stack each seat knows is public: every visit takes windows from the top and puts
some under the stack. The colours are hidden. A seat loses track of a colour in two cases: another
seat draws windows that this seat had put under the stack, or a gift card lets somebody search the
stack, which is then shuffled. From then on, the colours that others can hold depend on the course
of the match. `arrange` replays the match with random choices until they fit.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final, NamedTuple

from asara_game.rules import Rules
from asara_game.view import PrivateView
from asara_game.vocabulary import DecisionKind

from .shuffling import shuffle

BUILT, VISITED, SEARCHED = range(3)
_UNSEEN: Final = -1
"""Colour of a window that the seat has put under the stack but has not seen there yet."""
_TRIES: Final = 2000


class LitStep:
    """One event that concerned lit windows.

    - `kind`, `seat`: `seat` built a window, visited the House of Lighted Windows, or searched the
      stack using a gift card; the knowing seat's own builds are left out
    - `count`, `kept`: number of windows drawn, and kept, in a visit
    - `colour`: colour of the window built, or chosen by the knowing seat in its own search
    - `gained`: colours that the knowing seat kept on a visit
    - `seen`: colours that the knowing seat drew, or found in the stack; empty if it had no decision
    - `ordered`: True if `seen` is in the order drawn
    - `run`: colours that the knowing seat put under the stack, from the bottom; 0 for unknown
      colours
    - `rest`: the unknown colours of `run`, in no particular order
    - `built`: colours that another seat builds before it next gains lit windows
    - `gone`: for the knowing seat's own search: the colours that others keep before its next
      search; None if it does not search again
    - `later`: colours that the knowing seat draws later, by their number from the top; they come
      from the stack that this search shuffled, or from the windows that this visit put under the
      stack
    """

    __slots__ = (
        "_popped",
        "built",
        "colour",
        "count",
        "gained",
        "gone",
        "kept",
        "kind",
        "later",
        "ordered",
        "rest",
        "run",
        "seat",
        "seen",
    )

    def __init__(self, kind: int, seat: int, count: int, kept: int, colour: int) -> None:
        self.kind = kind
        self.seat = seat
        self.count = count
        self.kept = kept
        self.colour = colour
        self.seen: tuple[int, ...] = ()
        self.gained: list[int] = []
        self.ordered = False
        self.run: list[int] = []
        self.rest: list[int] = []
        self.built: list[int] = []
        self.gone: list[int] | None = None
        self.later: dict[int, int] = {}
        self._popped = 0

    def pop(self) -> int:
        """Remove the next window that this step placed; return its number from the top."""
        self._popped += 1
        return self._popped - 1


class ArrangedLitWindows(NamedTuple):
    """A possible arrangement of all lit windows whose colours the seat cannot see."""

    held: list[list[int]]
    """Colours by seat, held and not built; empty for the seat itself."""
    stack: list[int]
    """Colours, top last."""


class LitHistory:
    """What the seat knows about the lit windows of a match.

    - `owners`: for each place in the stack, top last: the seat that knows it, or -1
    - `lost`: True if the seat has lost track of a colour, so `arrange` is needed
    - `sound`: False if the seat gained lit windows twice without a decision in between; only the
      view can then tell the colours
    """

    __slots__ = (
        "_built",
        "_colours",
        "_drawn",
        "_found",
        "_new",
        "_own",
        "_popped",
        "_rules",
        "_seat",
        "_sources",
        "lost",
        "owners",
        "sound",
        "steps",
    )

    def __init__(self, rules: Rules, seat: int) -> None:
        total = sum(rules.edition.lit_windows) if rules.professional else 0
        self._rules = rules
        self._seat = seat
        self.owners = [-1] * total
        self.steps: list[LitStep] = []
        self.lost = False
        self.sound = True
        # By place: its colour as the seat knows it, 0 or _UNSEEN if it does not; the step of
        # another seat, or the search, that has put the window there.
        self._colours = [0] * total
        self._sources: list[LitStep | None] = [None] * total
        # Of the visit or search that is under way: number of windows drawn, the steps that had
        # placed them with their numbers since then, and the colours that the seat saw.
        self._drawn = 0
        self._popped: list[tuple[LitStep | None, int]] = []
        self._found: tuple[int, ...] = ()
        # The seat's own visits and searches since its last view, and by colour what it has built,
        # and what it had held or built at that view.
        self._new: list[tuple[LitStep, list[tuple[LitStep | None, int]]]] = []
        self._built = [0] * 6
        self._own = [0] * 6

    # Events

    def drawn(self, seat: int, count: int) -> None:
        """Record that lit windows were drawn from the top of the stack."""
        self._drawn = count
        self._popped = []
        for _ in range(count):
            self.owners.pop()
            source = self._sources.pop()
            self._popped.append((source, source.pop() if source is not None else 0))
            self._lose(self._colours.pop(), seat)

    def kept(self, seat: int, count: int) -> None:
        """Record which drawn windows were kept, or that one was chosen from the whole stack."""
        drawn, self._drawn = self._drawn, 0
        step = LitStep(VISITED if drawn else SEARCHED, seat, drawn, count, 0)
        self.steps.append(step)
        if seat == self._seat:
            step.seen, self._found = self._found, ()
            step.ordered = drawn > 0 and bool(step.seen)
            self._new.append((step, self._popped))
        if not drawn:
            for colour in self._colours:
                self._lose(colour, seat)
            left = len(self.owners) - 1
            self.owners = [-1] * left
            self._colours = [0] * left
            self._sources = [step] * left
            self.lost = self.lost or seat == self._seat
            return
        returned = drawn - count
        self.owners[:0] = [seat] * returned
        own = seat == self._seat
        self._colours[:0] = [_UNSEEN if own else 0] * returned
        self._sources[:0] = [None if own else step] * returned

    def _lose(self, colour: int, seat: int) -> None:
        """Record that a window was drawn or shuffled whose colour the seat knew."""
        if colour and seat != self._seat:
            self.lost = True

    def built(self, seat: int, colour: int) -> None:
        """Record that a window of this colour was lit."""
        if seat == self._seat:
            self._built[colour] += 1
        else:
            self.steps.append(LitStep(BUILT, seat, 0, 0, colour))
            gained = [s for s in self.steps if s.seat == seat and s.kind != BUILT]
            if gained:
                gained[-1].built.append(colour)

    # Views

    def look(self, own: PrivateView, kind: DecisionKind) -> None:
        """Update the history with the seat's own windows and places, at one of its decisions."""
        last = len(self._colours) - 1
        for above, colour in own.known_lit_windows:
            self._colours[last - above] = colour
        if self._new:
            self._resolve(own, kind)
        searched = tuple([int(colour) for colour in own.searched_lit_windows])
        if kind is DecisionKind.LIT_KEEP:
            self._found = searched
            _note(searched, self._popped)
        elif kind is DecisionKind.GIFT_LIT_WINDOW:
            self._found = searched

    def _resolve(self, own: PrivateView, kind: DecisionKind) -> None:
        """Work out what the seat itself drew, kept and put under the stack since its last view."""
        total = self._built[:]
        for colour, count in enumerate(own.lit_windows, 1):
            total[colour] += count
        gained = [c for c in range(1, 6) for _ in range(total[c] - self._own[c])]
        step, popped = self._new[0]
        if len(self._new) > 1 or len(gained) != step.kept:
            self.sound = False
        elif step.kind == SEARCHED:
            step.colour = gained[0]
            if step.seen:
                self._note_gone(step)
        else:
            self._resolve_visit(step, popped, gained, own, kind)
        if kind is not DecisionKind.LIT_RETURN:
            self._new = []
            self._own = total

    def _resolve_visit(
        self,
        step: LitStep,
        popped: Sequence[tuple[LitStep | None, int]],
        kept: Sequence[int],
        own: PrivateView,
        kind: DecisionKind,
    ) -> None:
        """Work out what the seat drew and returned in a visit where it kept these colours."""
        places = step.count - step.kept
        pending = [int(colour) for colour in own.searched_lit_windows]
        if kind is not DecisionKind.LIT_RETURN:
            pending = []
        start = self._start_of_run()
        run = pending + self._colours[start + len(pending) : start + places]
        run += [0] * (places - len(run))
        step.run = [max(0, colour) for colour in run]
        step.gained = list(kept)
        if not step.seen and 0 not in step.run:
            step.seen = (*kept, *step.run)
            source = popped[0][0]
            if len(set(step.seen)) == 1 or all(other is source for other, _ in popped):
                _note(step.seen, popped)  # else it matters in which order they were drawn
        step.rest = list(step.seen)
        for colour in (*kept, *step.run):
            if colour in step.rest:
                step.rest.remove(colour)

    def _note_gone(self, last: LitStep) -> None:
        """Record at the previous search which windows other seats have kept since then."""
        own = [s for s in self.steps if s.seat == self._seat]
        searches = [number for number, s in enumerate(own) if s.kind == SEARCHED and s.seen]
        if len(searches) < 2:
            return
        before = own[searches[-2]]
        left = [*before.seen]
        removed = [before.colour, *last.seen]
        for step in own[searches[-2] + 1 : searches[-1]]:
            left += [*step.run, *step.rest]
            removed += step.seen
        for colour in removed:
            if colour in left:
                left.remove(colour)
        before.gone = [colour for colour in left if colour]

    def _start_of_run(self) -> int:
        """Return the lowest place of the last windows that the seat itself put under the stack."""
        for start in range(len(self.owners)):
            if self.owners[start] == self._seat:
                return start
        return len(self.owners)

    # Worlds

    def arrange(self, own: PrivateView, rng: random.Random) -> ArrangedLitWindows | None:
        """Return a random arrangement of the hidden lit windows that fits everything seen.

        The events of the match are replayed, with random choices for the other seats, until they
        fit. Arrangements are not equally likely. Return None if many tries have failed.
        """
        for _ in range(_TRIES):
            trial = _Trial(self._rules, rng)
            if self._repeat(trial, own):
                return ArrangedLitWindows(trial.held, trial.stack)
        return None

    def _repeat(self, trial: _Trial, own: PrivateView) -> bool:
        for step in self.steps:
            if not trial.follow(step, step.seat == self._seat):
                return False
        pending = len(own.searched_lit_windows)
        if self._found and self._drawn:
            if not trial.draw(self._found, True):
                return False
        elif self._found:
            if not trial.search(self._found):
                return False
        elif pending:
            del trial.stack[:pending]
        return trial.complete(self._seat)


def _note(colours: Sequence[int], popped: Sequence[tuple[LitStep | None, int]]) -> None:
    """Record, in the steps that placed windows, which of them the seat has now drawn."""
    for colour, (source, number) in zip(colours, popped, strict=True):
        if source is not None:
            source.later[number] = colour


class _Trial:
    """A replay of the match. Colour 0 has not mattered yet; it can be any colour in the pool."""

    __slots__ = ("gone", "held", "pool", "rng", "stack")

    def __init__(self, rules: Rules, rng: random.Random) -> None:
        self.rng = rng
        self.pool = [0, *rules.edition.lit_windows]
        self.stack = [0] * sum(self.pool)
        self.held: list[list[int]] = [[] for _ in range(rules.seats)]
        self.gone: list[int] | None = None

    def follow(self, step: LitStep, own: bool) -> bool:
        """Replay one step; return False if it is impossible in this trial."""
        if step.kind == BUILT:
            return self._take(self.held[step.seat], step.colour)
        if step.kind == VISITED:
            if own:
                return self._repeat_own_visit(step)
            drawn = [self.stack.pop() for _ in range(step.count)]
            return self._place(drawn, step, step.kept)
        if own:
            if (step.seen and not self.search(step.seen)) or not self._take(
                self.stack, step.colour
            ):
                return False
            self.gone = None if step.gone is None else step.gone[:]
        windows, self.stack = self.stack, []
        return self._place(windows, step, 0 if own else 1)

    def _repeat_own_visit(self, step: LitStep) -> bool:
        if step.seen:
            fits = self.draw(step.seen, step.ordered)
            rest = step.rest[:]
        else:
            rest = [self.stack.pop() for _ in range(step.count)]
            known = [*step.gained, *[colour for colour in step.run if colour]]
            fits = all(self._take(rest, colour) for colour in known)
        shuffle(rest, self.rng)
        if not fits or len(rest) != step.run.count(0):
            return False
        self.stack[:0] = [colour or rest.pop() for colour in step.run]
        return True

    def draw(self, seen: Sequence[int], ordered: bool) -> bool:
        """Let the knowing seat draw windows of these colours."""
        drawn = [self.stack.pop() for _ in seen]
        if ordered:
            if any(colour and colour != known for colour, known in zip(drawn, seen, strict=True)):
                return False
            return self._assign([k for c, k in zip(drawn, seen, strict=True) if not c])
        left = list(seen)
        for colour in drawn:
            if colour:
                if colour not in left:
                    return False
                left.remove(colour)
        return self._assign(left)

    def _assign(self, colours: Sequence[int]) -> bool:
        """Give colours from the pool to windows that had none."""
        for colour in colours:
            self.pool[colour] -= 1
        return min(self.pool) >= 0

    def search(self, seen: Sequence[int]) -> bool:
        """Let the knowing seat find windows of these colours in the stack."""
        left = list(seen)
        for colour in self.stack:
            if colour:
                if colour not in left:
                    return False
                left.remove(colour)
        if not self._assign(left):
            return False
        shuffle(left, self.rng)
        self.stack = [colour or left.pop() for colour in self.stack]
        return True

    def _place(self, windows: list[int], step: LitStep, kept: int) -> bool:
        """Let another seat keep some of these windows; shuffle the others under the stack.

        The windows that the knowing seat is known to draw later go under the stack.
        """
        later: dict[int, int] = {}
        for number, colour in step.later.items():
            if not self._take(windows, colour):
                return False
            later[number] = colour
        held = self.held[step.seat]
        if kept:
            before = held[:]
            for colour in step.built:
                if colour in before:
                    before.remove(colour)
                elif 0 in before:
                    before.remove(0)
                elif kept and self._take(windows, colour):
                    held.append(colour)
                    kept -= 1
                    if self.gone is not None:
                        if colour not in self.gone:
                            return False
                        self.gone.remove(colour)
                else:
                    return False
        if len(windows) < kept:
            return False
        shuffle(windows, self.rng)
        for _ in range(kept):
            colour = windows[-1]
            if self.gone is not None:
                colour = next((c for c in windows if c in self.gone), 0)
                if not colour:
                    return False
                self.gone.remove(colour)
            windows.remove(colour)
            held.append(colour)
        size = len(windows) + len(later)
        run = [later[n] if n in later else windows.pop() for n in range(size)]
        run.reverse()
        self.stack[:0] = run
        return True

    def _take(self, windows: list[int], colour: int) -> bool:
        """Remove a window of this colour; return False if none of the windows can have it."""
        known = windows.count(colour)
        unknown = windows.count(0) if self.pool[colour] else 0
        if not known and not unknown:
            return False
        share = unknown * self.pool[colour] / max(1, sum(self.pool))
        if self.rng.random() * (known + share) < known:
            windows.remove(colour)
        else:
            windows.remove(0)
            self.pool[colour] -= 1
        return True

    def complete(self, own: int) -> bool:
        """Give a colour to every window without one; return False if the pool does not fit."""
        rest = [colour for colour, count in enumerate(self.pool) for _ in range(count)]
        shuffle(rest, self.rng)
        self.held[own] = []
        for windows in (self.stack, *self.held):
            for place, colour in enumerate(windows):
                if not colour:
                    if not rest:
                        return False
                    windows[place] = rest.pop()
        return not rest
