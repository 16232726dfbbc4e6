"""A real match in which the program plays one seat, and the referee plays all others.

The other seats choose by the rule of `random_index`.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final

from asara.v1 import play_pb2
from asara.v1.play_pb2 import PlayResponse
from asara.v1.vocabulary_pb2 import Action as ActionMessage
from asara_codec.clocks import Clocks
from asara_codec.encode import action_message
from asara_codec.messages import deal_committed_bytes
from asara_codec.results import Termination
from asara_game.edition import load_edition
from asara_game.rules import Rules, parse_rule_sets
from asara_server.conformance.case import CaseMatch
from asara_server.match.inputs import Presence
from asara_server.match.match import Answer, Match
from asara_server.match.spec import SECOND_US, MatchLimits, MatchSpec, Player


def random_index(seed: str, match_id: str, seat: int, decision_id: int, legal: int) -> int:
    """Return the index of the action to choose; `legal` is the number of legal actions."""
    digest = sha256(f"{seed}/{match_id}/{seat}/{decision_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % legal


LIMITS: Final = MatchLimits(actions_per_reply=64, rejections_forgiven=10)
_NEVER_ASKED: Final = 9_999
_STEP_US: Final = 1_000
_CLOCKS: Final = Clocks(bank_us=600 * SECOND_US, reconnect_us=600 * SECOND_US)
_OTHERS_SEED: Final = "others"


class PlayedMatch:
    """A match with the messages that were sent to the program.

    - `sent`: serialized messages of the match, in order, as the program received them
    - `sequence`: number of the last event in these messages
    - `open`: the decision that the program has to answer; None if no decision is open
    - `running`: True from MatchStarted to MatchEnded
    """

    def __init__(self, name: str, settings: CaseMatch, seed: str, *, by_rule: bool) -> None:
        """`by_rule` requires actions derived from the seed; otherwise, any legal action will do."""
        self.name = name
        self.settings = settings
        self.seat = settings.seat
        self.sent: list[bytes] = []
        self.sequence = 0
        self.open: play_pb2.Decision | None = None
        self.running = False
        self.nonce = b""
        self._seed = seed
        self._by_rule = by_rule
        self._rejected = False
        self._lost: tuple[int, list[ActionMessage]] | None = None
        self._secret = sha256(f"secret of {name}".encode()).digest()
        self._unsent: deque[bytes] = deque()
        self._now_us = 0
        self._match: Match | None = None
        if settings.played:
            self._play_as_an_earlier_process()

    # Messages

    def commitment(self) -> bytes:
        """Return a DealCommitted message."""
        return deal_committed_bytes(
            match_id=self.name, seat=self.seat, deal_commitment=sha256(self._secret).digest()
        )

    def start(self, hello: play_pb2.Hello) -> bytes:
        """Start the match; return MatchStarted."""
        nonces: tuple[bytes, ...] = ()
        if self.settings.joint:
            others = [sha256(f"nonce {n}".encode()).digest() for n in range(self.settings.seats)]
            nonces = (*others[: self.seat], self.nonce, *others[self.seat + 1 :])
        self._begin(nonces, _presence(hello, None))
        self._collect()
        return self._unsent.popleft()

    def resume(self, hello: play_pb2.Hello) -> None:
        """Let the program reconnect; the next call of `ask` returns the messages for it."""
        last = {one.match_id: one.sequence for one in hello.last_events}
        self.leave()
        self._played.enter(self.seat, _presence(hello, last.get(self.name)), self._now())
        self._collect()

    def ask(self) -> list[bytes]:
        """Return the messages up to the program's next decision, or to the end of the match."""
        self._advance()
        messages = list(self._unsent)
        self._unsent.clear()
        return messages

    def update(self) -> bytes | None:
        """Let the other seats play, and return their events as a separate Update.

        This is what the referee sends to programs that requested live updates. Return None during
        the program's own turn: in that case, `ask` returns its next decision.
        """
        self.leave()
        self._played.enter(self.seat, Presence(True, False, self.sequence), self._now())
        self._advance()
        *updates, _resumed, decision = self._unsent
        self._unsent.clear()
        self._unsent.append(decision)
        return updates[0] if updates else None

    def finish(self) -> list[bytes]:
        """End the match by a forfeit of all other seats; return the last messages."""
        for seat in range(self.settings.seats):
            if seat != self.seat:
                self._played.forfeit(seat, Termination.CRASH, "left the match", self._now())
        self._unsent.clear()
        self._collect()
        return list(self._unsent)

    def void(self) -> list[bytes]:
        """End the match without a result; return the last message."""
        if self._match is None:  # cancelled before it started
            ended = play_pb2.MatchEnded(match_id=self.name, void=True)
            return [PlayResponse(match_ended=ended).SerializeToString()]
        self._match.abandon("the script of the case")
        self._unsent.clear()
        self._collect()
        return list(self._unsent)

    def note_sent(self, message: bytes) -> None:
        """Note that a message of this match was sent to the program."""
        response = PlayResponse.FromString(message)
        kind = response.WhichOneof("response")
        repeated = kind == "deal_committed" and message in self.sent
        if not repeated:
            self.sent.append(message)
        match kind:
            case "match_started":
                self.running = True
                if not response.match_started.resumed or len(self.sent) == 1:
                    self.sequence = response.match_started.sequence
            case "update":
                self.sequence = max(self.sequence, response.update.sequence)
            case "decision":
                self.open = response.decision
                self._rejected = False
                self.sequence = max(self.sequence, response.decision.sequence)
            case "match_ended":
                self.running = False

    # Answers

    @property
    def expected_answer(self) -> list[ActionMessage] | None:
        """Return the actions that the program has to choose; None if any legal ones will do."""
        assert self.open is not None
        number, legal = self.open.decision_id, self.open.legal_actions
        if not self._rejected and self._lost is not None and self._lost[0] == number:
            return self._lost[1]
        if not self._by_rule:
            return None
        if self._rejected:
            return [legal[0]]
        return [legal[random_index(self._seed, self.name, self.seat, number, len(legal))]]

    def answer(self, actions: list[ActionMessage]) -> None:
        """Play the program's reply to the open decision; its first action is legal."""
        assert self.open is not None
        number, self.open = self.open.decision_id, None
        answer = self._played.reply(self.seat, number, actions, self._now())
        assert answer is Answer.ACCEPTED, answer
        self._played.record_reply(0)
        self._collect()

    def lose(self, actions: list[ActionMessage]) -> None:
        """Note a reply that is lost: the decision stays open, and must get the same answer."""
        assert self.open is not None
        self._lost = self.open.decision_id, actions
        self.open = None

    def reject(self, reason: str, received: list[ActionMessage]) -> bytes:
        """Treat the reply as a defective one; return the rejection with this reason."""
        assert self.open is not None
        number = self.open.decision_id
        actions: Iterable[ActionMessage]
        match reason:
            case "EMPTY":
                actions = []
            case "TOO_MANY_ACTIONS":
                actions = received[:1] * (LIMITS.actions_per_reply + 1)
            case "UNKNOWN_ACTION":
                actions = [ActionMessage()]
            case "ILLEGAL_ACTION":
                actions = [_illegal(self.open)]
            case "UNKNOWN_DECISION":
                number, actions = _NEVER_ASKED, received
            case _:
                raise ValueError(reason)
        answer = self._played.reply(self.seat, number, list(actions), self._now())
        assert answer is Answer.REJECTED, answer
        self._collect()
        self._rejected = True
        return self._unsent.popleft()

    # The match

    @property
    def _played(self) -> Match:
        assert self._match is not None, f"{self.name} has not started"
        return self._match

    def leave(self) -> None:
        """Note that the program has lost its stream."""
        if self._match is not None and not self._match.finished:
            self._match.leave(self.seat, self._now())
            self._match.outbox.clear()
            self._unsent.clear()

    def _begin(self, nonces: tuple[bytes, ...], presence: Presence) -> None:
        seats = self.settings.seats
        rules = Rules(load_edition(), parse_rule_sets(self.settings.rules), seats)
        players = tuple(Player(f"player-{seat}", f"token-{seat}") for seat in range(seats))
        shared = "shared" if self.settings.shared else ""
        spec = MatchSpec(
            self.name,
            rules,
            players,
            _CLOCKS,
            self._secret,
            joint=self.settings.joint,
            nonces=nonces,
            shared_deal=shared,
        )
        self._match = Match(spec, LIMITS)
        present: Mapping[int, Presence] = {
            seat: presence if seat == self.seat else Presence() for seat in range(seats)
        }
        self._match.start(present, {})

    def _play_as_an_earlier_process(self) -> None:
        self._begin((), Presence())
        for _ in range(self.settings.played):
            self._advance()
            decision = PlayResponse.FromString(self._unsent[-1]).decision
            legal = self._played.state.legal
            index = random_index(self._seed, self.name, self.seat, decision.decision_id, len(legal))
            self.open = decision
            self.answer([action_message(legal[index])])
        self.leave()

    def _advance(self) -> None:
        """Play for the other seats until the program has to decide, or the match is over."""
        match = self._played
        while (asked := match.asked) is not None and asked != self.seat:
            number, legal = match.decision_id(asked), match.state.legal
            index = random_index(_OTHERS_SEED, self.name, asked, number, len(legal))
            match.reply(asked, number, [legal[index]], self._now())
            match.record_reply(0)
        self._collect()

    def _collect(self) -> None:
        """Queue the new messages addressed to the program's seat."""
        outbox = self._played.outbox
        self._unsent.extend(message for seat, message in outbox if seat == self.seat)
        outbox.clear()

    def _now(self) -> int:
        self._now_us += _STEP_US
        return self._now_us


def _presence(hello: play_pb2.Hello, last: int | None) -> Presence:
    return Presence(hello.live_updates, hello.omit_public_view, last)


def _illegal(decision: play_pb2.Decision) -> ActionMessage:
    """Return an action that exists but is not legal now."""
    action = ActionMessage()
    action.build_count.SetInParent()
    action.build_count.count = 1
    if action in decision.legal_actions:
        action.build_count.count = 40
    return action
