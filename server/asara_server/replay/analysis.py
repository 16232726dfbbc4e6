"""Analyses a replay: prices every decision from what its seat knew, and measures the luck."""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeVar

from pydantic import TypeAdapter

from asara_game import History, Worlds
from asara_game.actions import Action
from asara_game.deal import Deal
from asara_game.engine import apply_one, new_match
from asara_game.events import BuyersRecruited, Event, YearStarted
from asara_game.rules import RULES_VERSION
from asara_game.state import State
from asara_game.view import view
from asara_game.vocabulary import DecisionKind
from asara_search.analysis import (
    BUDGETS,
    VERSION,
    Budget,
    DecisionPrice,
    DecisionPricer,
    Estimate,
    Luck,
    Priced,
    deal_luck,
    draw_luck,
    is_draw,
    turn_course,
)
from asara_server.journal.replay import Replay, ReplayError
from asara_server.journal.resimulate import resimulated
from asara_server.match.inputs import ReplyRecord
from asara_server.match.match import steward_action
from asara_server.outcome import match_scores
from asara_server.replay.analysis_file import (
    Analysis,
    Candidate,
    Decision,
    Draw,
    DrawKind,
    Point,
    SeatSum,
    Value,
)
from asara_server.replay.file import parse_replay
from asara_server.replay.unfinished_analysis import UnfinishedAnalysis

_Found = TypeVar("_Found")


class _PricedDecision(NamedTuple):
    """A decision with its price, and what of the price the decision rounds."""

    decision: Decision
    expected: Estimate
    loss: Estimate
    playouts: int


_LUCK: Final = TypeAdapter(Luck)
_PRICED: Final = TypeAdapter(_PricedDecision)


class Played(NamedTuple):
    """The next action of a match."""

    action: Action
    decision: int
    """Number of the seat's decision; 0 for an action that is in no reply."""
    step: int
    """Position of the action in its reply."""
    forfeited: frozenset[int]
    """Seats for which the steward plays."""


def played(replay: Replay, state: State) -> Iterator[Played]:
    """Yield every action of a match; the caller applies it to `state`, which begins as the set-up.

    Raises ReplayError if the replay is not sound.
    """
    forfeited: frozenset[int] = frozenset()
    asked = 0
    seats = len(state.hands)
    for match, record in resimulated(replay):
        if isinstance(record, ReplyRecord):
            for step, action in enumerate(record.actions):
                while len(state.legal) == 1 and state.legal[0] != action:
                    yield Played(state.legal[0], 0, 0, forfeited)
                yield Played(action, asked, step, forfeited)
        forfeited = frozenset(s for s in range(seats) if match.termination(s).forfeit)
        while len(forfeited) < seats - 1 and (state.seat in forfeited or len(state.legal) == 1):
            yield Played(steward_action(state.kind, state.legal), 0, 0, forfeited)
        if match.asked is not None:
            asked = match.decision_id(match.asked)


def actions_in(replay: Replay) -> int:
    """Return the number of actions in the replies, as a measure of the work."""
    return sum(len(r.actions) for r in replay.records if isinstance(r, ReplyRecord))


def analyse(
    data: bytes,
    budget: str,
    progress: Callable[[], None],
    unfinished: UnfinishedAnalysis | None = None,
) -> Analysis:
    """Analyse the replay in the content of a file; `progress` is called after every action of a
    reply.

    With `unfinished`, nothing that it has is computed again. Raises ReplayError if the replay is
    not sound, or if nobody decided anything, and OSError if `unfinished` cannot be written.
    """
    replay = parse_replay(data)
    if not actions_in(replay):
        raise ReplayError("there is nothing to analyse: no seat has answered a decision")
    analyst = _Analyst(replay, BUDGETS[budget], unfinished)
    for one in played(replay, analyst.state):
        analyst.act(one)
        if one.decision:
            progress()
    return analyst.result(hashlib.sha256(data).hexdigest(), budget)


class _Analyst:
    """Follows a match, action by action."""

    def __init__(
        self, replay: Replay, budget: Budget, unfinished: UnfinishedAnalysis | None
    ) -> None:
        self._replay = replay
        self._budget = budget
        self._unfinished = unfinished
        spec = replay.header.spec()
        rules = spec.rules
        self.state, events = new_match(rules, Deal(spec.deal_secret))
        self._histories = [History.from_view(view(self.state, seat)) for seat in range(rules.seats)]
        self._pricer = DecisionPricer(rules, budget)
        self._decisions: list[Decision] = []
        self._draws: list[Draw] = []
        self._turn: list[Priced] = []
        self._course: list[Point] = []
        self._events = len(events)
        self._forfeits = 0
        """Number of forfeits that had been announced when the turn began."""
        self._playouts = 0
        name = replay.header.match_id
        self._add_draw("deal", lambda: deal_luck(self.state, budget.luck, name))

    def act(self, one: Played) -> None:
        """Price an action and its luck, and carry it out."""
        state, action = self.state, one.action
        if state.kind is DecisionKind.SPACE:
            self._end_turn()
            self._forfeits = len(one.forfeited)
        before = state.copy()
        price = self._price(one) if state.seat not in one.forfeited else None
        sequence = self._sequence
        events = apply_one(state, action)
        self._events += len(events)
        if price is not None:
            self._turn.append(Priced(sequence, self._sequence, price.expected, price.loss))
        for history in self._histories:
            history.add(events)
        if is_draw(events) and state.seat >= 0:
            name = f"{self._replay.header.match_id}/{len(self._draws)}"
            self._add_draw(
                _kind_of_draw(events),
                lambda: draw_luck(before, action, state, one.forfeited, self._budget.luck, name),
            )

    def _recall(self, kind: TypeAdapter[_Found], find: Callable[[], _Found]) -> _Found:
        return find() if self._unfinished is None else self._unfinished.recall(kind, find)

    @property
    def _sequence(self) -> int:
        return self._events + self._forfeits

    def _end_turn(self) -> None:
        if self._turn:
            seat = self._decisions[-1].seat
            self._course += [
                Point(seat=seat, sequence=sequence, expected=_value(expected))
                for sequence, expected in turn_course(self._turn)
            ]
            self._turn = []

    def _price(self, one: Played) -> _PricedDecision | None:
        """Add a decision, and return its price; None if it was forced."""
        state = self.state
        found = Decision(
            seat=state.seat,
            decision=one.decision,
            step=one.step,
            sequence=self._sequence,
            year=state.year,
            kind=state.kind.name,
            chosen=str(one.action),
            forced=len(state.legal) == 1,
        )
        if found.forced:
            self._decisions.append(found)
            return None
        priced = self._recall(_PRICED, lambda: self._priced(one, found))
        self._decisions.append(priced.decision)
        self._playouts += priced.playouts
        return priced

    def _priced(self, one: Played, decision: Decision) -> _PricedDecision:
        state, seat = self.state, decision.seat
        worlds = Worlds(view(state, seat), self._histories[seat])
        name = f"{self._replay.header.match_id}/{seat}/{one.decision}/{one.step}"
        price = self._pricer.price(worlds.sample, state.legal, one.action, name, one.forfeited)
        return _PricedDecision(
            _with_price(decision, price), price.expected, price.loss, price.playouts
        )

    def _add_draw(self, draw: DrawKind, measure: Callable[[], Luck]) -> None:
        luck = self._recall(_LUCK, measure)
        self._playouts += luck.playouts
        self._draws.append(
            Draw(
                year=self.state.year,
                draw=draw,
                before=len(self._decisions),
                sequence=self._sequence,
                gained=tuple(map(_rounded, luck.gained)),
                error=tuple(map(_rounded, luck.error)),
                stroke=luck.stroke,
            )
        )

    def result(self, replay_sha256: str, budget: str) -> Analysis:
        """Return the analysis of the whole match."""
        self._end_turn()
        header = self._replay.header
        seats = tuple(map(self._sum, range(len(header.entries))))
        last = self._events + sum(one.termination.forfeit for one in self._replay.ends)
        self._course += [
            Point(
                seat=one.seat,
                sequence=last,
                expected=Value(mean=one.score, error=0.0, worlds=0),
            )
            for one in seats
        ]
        return Analysis(
            analyser=VERSION,
            rules_version=RULES_VERSION,
            edition_sha256=hashlib.sha256(header.edition).hexdigest(),
            replay_sha256=replay_sha256,
            match_id=header.match_id,
            budget=budget,
            playouts=self._playouts,
            seats=seats,
            decisions=tuple(self._decisions),
            draws=tuple(self._draws),
            course=tuple(self._course),
        )

    def _sum(self, seat: int) -> SeatSum:
        score = match_scores([end.rank for end in self._replay.ends])[seat]
        labels = Counter(one.label for one in self._decisions if one.seat == seat)
        luck = _total((one.gained[seat], one.error[seat]) for one in self._draws)
        return SeatSum(
            seat=seat,
            entry=self._replay.header.entries[seat],
            score=_rounded(score),
            luck=luck,
            score_after_luck=_rounded(score - luck.mean),
            inaccuracies=labels["inaccuracy"],
            mistakes=labels["mistake"],
            blunders=labels["blunder"],
        )


def _kind_of_draw(events: Sequence[Event]) -> DrawKind:
    kinds = {type(event) for event in events}
    if YearStarted in kinds:
        return "year"
    return "buyers" if BuyersRecruited in kinds else "lit windows"


def _with_price(decision: Decision, price: DecisionPrice) -> Decision:
    return decision.model_copy(
        update={
            "best": str(price.best),
            "expected": _value(price.expected),
            "loss": _value(price.loss),
            "label": price.label,
            "candidates": tuple(
                Candidate(
                    action=str(one.action), expected=_value(one.expected), pricing=one.pricing
                )
                for one in price.candidates
            ),
        }
    )


def _value(estimate: Estimate) -> Value:
    mean, error, worlds = estimate
    return Value(mean=_rounded(mean), error=_rounded(error), worlds=worlds)


def _total(parts: Iterable[tuple[float, float]]) -> Value:
    """Return the sum of independent values."""
    known = list(parts)
    error = math.sqrt(sum(error * error for _, error in known))
    return Value(mean=_rounded(sum(mean for mean, _ in known)), error=_rounded(error), worlds=0)


def _rounded(value: float) -> float:
    """Round, so that the file is short and all machines write the same."""
    return round(value, 4) + 0.0
