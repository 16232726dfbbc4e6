from asara_game.rules import parse_rule_sets
from asara_server.tournament.schedule.layout import Layout
from asara_server.tournament.schedule.looks import looks_at
from asara_server.tournament.schedule.schedule import ScheduledMatch, list_matches

NAMES = ("ann", "bob", "cid", "dan")
BASIC = (parse_rule_sets("basic"),)


def schedule(**layout) -> list[ScheduledMatch]:
    return list_matches(NAMES, (2,), BASIC, Layout(("",) * len(NAMES), **layout))


def test_looks_are_after_whole_rounds_each_half_as_many_again() -> None:
    matches_of_a_round = 12
    rounds = (6, 9, 14, 20, 30, 45, 67, 100)
    assert looks_at(schedule(rounds=100)) == tuple(n * matches_of_a_round for n in rounds)


def test_a_short_run_has_fewer_looks() -> None:
    assert looks_at(schedule(rounds=2)) == (12, 24)


def test_one_round_is_looked_at_after_whole_blocks() -> None:
    planned = schedule(blocks_per_entry=30)
    looks = looks_at(planned)
    assert len(looks) == 8
    assert looks[-1] == len(planned) == 120
    blocks = [match.block for match in planned]
    assert all(blocks[look - 1] != blocks[look] for look in looks[:-1])
