"""Many random matches over gRPC at once: every combination of rules, every number of seats.

`ASARA_SOAK` sets the number of matches of the long form.
"""

import asyncio
import os
import random
from itertools import cycle, islice

import pytest

from asara_codec.clocks import Clocks
from asara_codec.results import Termination
from asara_game.rules import RULE_COMBINATIONS, Rules
from asara_server.match.inputs import ReplyRecord, StartRecord
from asara_server.match.spec import MatchSpec, Player
from asara_server.referee.limits import LimitSettings
from tests.match.playouts import replay_of
from tests.referee.harness import EDITION, play_bot, referee_server
from tests.sizes import others_long

AT_ONCE = 40
BOTS = "abcd"
CLOCKS = Clocks(bank_us=600_000_000, start_up_us=600_000_000)


def whole_turn(decision, rng):
    """Policy: one action for this decision, and guesses for the next ones."""
    actions = [rng.choice(decision.legal_actions)]
    actions += rng.choices(decision.legal_actions, k=rng.randrange(3))
    return actions


def specs(matches):
    """Matches of all kinds in turn, between all bots."""
    kinds = [Rules(EDITION, sets, seats) for seats in (4, 3, 2) for sets in RULE_COMBINATIONS]
    rng = random.Random(matches)
    for number, rules in enumerate(islice(cycle(kinds), matches)):
        names = rng.sample(BOTS, rules.seats)
        players = tuple(Player(name, f"token-{name}") for name in names)
        yield MatchSpec(f"m{number}", rules, players, CLOCKS, rng.randbytes(32))


async def soak(matches):
    """Play this number of matches; return their records."""
    async with referee_server(LimitSettings(matches=AT_ONCE)) as server:
        server.admit(*BOTS)
        bots = []
        for seed, name in enumerate(BOTS):
            hello = {"live_updates": name == "b", "omit_public_view": name == "c"}
            stream = await server.dial(name, max_matches=AT_ONCE, **hello)
            choose = {"choose": whole_turn} if name == "d" else {}
            bots.append(asyncio.create_task(play_bot(stream, matches, seed, **choose)))
        records = await asyncio.gather(*map(server.referee.play, specs(matches)))
        for name in BOTS:
            server.referee.remove_bot(f"token-{name}", "done")
        ended = await asyncio.gather(*bots)
        assert sum(map(len, ended)) == sum(len(record.ends) for record in records)
        return records


@pytest.mark.parametrize("matches", others_long([6, int(os.environ.get("ASARA_SOAK", "60"))], 2))
def test_matches_of_all_kinds(matches):
    for record in asyncio.run(soak(matches)):
        assert not record.void
        for result in record.ends:
            assert result.termination is Termination.COMPLETED, result.detail
        kinds = set(map(type, replay_of(record).records))
        assert kinds == {StartRecord, ReplyRecord}, "no rejections"
