"""The search bot: legal and repeatable in every match, within its clock, stronger than greedy."""

import re
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

import asara
from asara_game import (
    Action,
    Deal,
    State,
    apply,
    load_edition,
    new_match,
)
from asara_game.rules import RULE_COMBINATIONS, Rules, format_rule_sets, parse_rule_sets
from asara_game.vocabulary import DecisionKind
from asara_search.policies import GreedyPolicy
from asara_search.search_base import Search
from asara_search.tree_search import TreeSettings
from asara_search.turn_search import SearchSettings
from asara_server.cli.commands.play import LEVELS as OFFERED
from bots.greedy.main import decide as greedy
from bots.random.main import decide as at_random
from bots.search.main import (
    LEVELS,
    Budget,
    SearchBot,
    configured,
    make_search,
    option_parser,
    parse,
)
from tests.bots.in_process import play_match, share_of_wins
from tests.cli.command import asara as run_asara
from tests.docs.documents import read
from tests.events import wait_until
from tests.sizes import others_long
from tests.tournament.sandbox_config import sandbox_or_skip

EDITION = load_edition()
BOTS = Path(__file__).parents[2] / "bots"
SHALLOW = ("--turns", "1", "--candidates", "4")


@pytest.mark.parametrize("rule_sets", others_long(RULE_COMBINATIONS, 5), ids=format_rule_sets)
def test_plays_legally_with_all_rules(rule_sets):
    seats = 2 + RULE_COMBINATIONS.index(rule_sets) % 3
    bots = [configured(["--iterations", "3", *SHALLOW])] * seats
    results = play_match(Rules(EDITION, rule_sets, seats), bots, "legal", bytes(32))
    assert len(results) == seats


@pytest.mark.long
def test_several_actions_in_one_reply():
    lengths: list[int] = []

    class Recording(SearchBot):
        budget = Budget(iterations=3)
        settings = SearchSettings(turns=1, candidates=3)

        def decide(self, decision: asara.Decision) -> list[asara.Action]:
            answer = super().decide(decision)
            lengths.append(len(answer))
            return answer

    play_match(Rules(EDITION, parse_rule_sets("basic"), 2), [Recording] * 2, "long", bytes(32))
    assert max(lengths) >= 3


@pytest.mark.long
@pytest.mark.parametrize("rule_sets", ["basic", "pro+gifts+genie"])
def test_beats_greedy_with_few_playouts(rule_sets):
    search = configured(["--iterations", "24"])
    assert share_of_wins(search, greedy, Rules(EDITION, parse_rule_sets(rule_sets), 2), 2) >= 0.75


class Planned:
    """A search, and the time manager of its bot: both note what they are given."""

    deadline_s = planned_s = 0.0

    def choose(self, sample, legal, rng, iterations, deadline_s):
        self.deadline_s = deadline_s
        return legal[0]

    def searched(self, planned_s, took_s):
        self.planned_s = planned_s


@pytest.mark.parametrize(("share_s", "planned_s"), [(10, 0.5), (0.125, 0.125)])
def test_a_decision_takes_its_share_of_the_clock_up_to_the_milliseconds(share_s, planned_s):
    bot: Any = configured(["--milliseconds", "500"])()
    bot.match = SimpleNamespace(random=Random(1))
    bot.time_manager = planned = Planned()
    began_s = time.perf_counter()
    bot.choose(planned, lambda rng: None, ["first", "second"], share_s)
    ended_s = time.perf_counter()
    assert planned.planned_s == planned_s
    assert began_s + planned_s <= planned.deadline_s <= ended_s + planned_s


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--iterations 0", "argument --iterations"),
        ("--milliseconds -5", "argument --milliseconds"),
        ("--iterations 5 --milliseconds 5", "not allowed with"),
        ("--prior nan", "prior"),
        ("--search flat", "argument --search"),
        ("--search tree --leaf x", "leaf"),
        ("surprise", "unrecognized arguments: surprise"),
        ("--exploration 2", "--exploration: only a tree search has it; add --search tree"),
        ("--no-reuse", "--no-reuse: only a tree search has it; add --search tree"),
        ("--ponder --iterations 5", "--ponder: not with --iterations"),
        ("--search tree --ponder --no-reuse", "--ponder: not with --no-reuse"),
        ("--level 2 --candidates 5", "--level: sets all other options"),
        ("--level 2 --search tree", "--level: sets all other options"),
        ("--level 6", "invalid choice: 6"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as ended:
        configured(arguments.split())
    assert ended.value.code == 2
    assert sentence in capsys.readouterr().err.partition("error: ")[2]


def test_every_switch_of_the_tree_is_an_option():
    options = (
        "--search tree --milliseconds 7 --ponder --candidates 3 --turns 4 --years 2 --prior 6 "
        "--scale 7 --all-moves --noise 0.5 --determinizations 8 "
        "--opponents max-n --leaf rank --widening 1.5 --exploration 9 --final value"
    )
    budget, settings = parse(options.split())
    assert budget == Budget(None, 7, ponder=True)
    assert settings == TreeSettings(
        *(3, 4, 2, 6, 7, False, 0.5), *(8, "max-n", "rank", 1.5, 9), reuse=True, final="value"
    )
    assert parse(["--search", "tree", "--no-reuse"])[1] == TreeSettings(reuse=False)
    assert parse([]) == (Budget(), SearchSettings())
    assert parse(["--search", "tree"]) == (Budget(), TreeSettings())


@pytest.mark.parametrize("search", ["turn", "tree"])
def test_noise_changes_choices_but_no_build(search):
    """Without a choice of candidates, the bot takes the action with the highest noisy price."""
    rules = Rules(EDITION, parse_rule_sets("basic"), 2)

    def choices(noise: str, seed: int) -> dict[DecisionKind, list[Action]]:
        _, settings = parse(["--search", search, "--candidates", "1", "--noise", noise])
        searcher, rng = make_search(rules, settings), Random(seed)
        state, _ = new_match(rules, Deal(bytes(32)))
        policy, found = GreedyPolicy(rules), defaultdict(list)
        while state.seat >= 0:
            chosen = searcher.choose(state.copy, state.legal, rng, 1, 0.0)
            found[state.kind].append(chosen)
            apply(state, policy.choose(state, rng))
        return found

    without, one, same, other = (
        choices(*each) for each in (("0", 1), *[("1", s) for s in (1, 1, 2)])
    )
    assert one == same != other
    for kind in (DecisionKind.BUILD, DecisionKind.BUILD_COUNT):
        assert without[kind] == one[kind] == other[kind]
    assert without[DecisionKind.SPACE] != one[DecisionKind.SPACE]


def test_levels_are_options_of_the_bot_and_the_page_has_what_was_measured_of_them():
    for level, options in enumerate(LEVELS, 1):
        assert parse(["--level", str(level)]) == parse(options.split())
    rows = re.findall(r"^\| (\d) \| `([^`]*)` \|", read("bots/README.md"), re.MULTILINE)
    assert rows == [(str(level), options) for level, options in enumerate(LEVELS, 1)]
    assert len(LEVELS) == OFFERED


@pytest.mark.parametrize("search", ["turn", "tree"])
def test_pondering_ends_when_the_bot_is_asked_and_with_the_match(search, monkeypatch):
    """Each wait is long enough to ponder in some world, and nobody else uses the search then."""
    playouts: list[int] = []
    worlds = 0

    class Pondering(configured(["--search", search, "--milliseconds", "1", "--ponder"])):  # type: ignore[misc]
        def decide(self, decision: asara.Decision) -> list[asara.Action]:
            if self.ponderer is not None and len(playouts) < 12:
                wait_until("a world to ponder in", lambda: worlds > self.worlds_before)
            before = self.search.playouts if self.search else 0
            with monkeypatch.context() as patch:
                patch.setattr(SearchBot, "choose", lambda self, search, sample, legal, _: legal[0])
                answer: list[asara.Action] = super().decide(decision)
            playouts.append(before)
            assert not ponders() or self.ponderer is not None
            return answer

        def ponder(self, search: Search, sample: Callable[[Random], State]) -> None:
            def counted(rng: Random) -> State:
                nonlocal worlds
                worlds += 1
                return sample(rng)

            self.worlds_before = worlds
            super().ponder(search, counted)

    def ponders() -> bool:
        return any(thread.name == "ponder" for thread in threading.enumerate())

    rules = Rules(EDITION, parse_rule_sets("basic"), 2)
    interval = sys.getswitchinterval()
    play_match(rules, [Pondering, at_random], "ponder", bytes(32))
    assert playouts[11] > 10
    assert not ponders()
    assert sys.getswitchinterval() == interval


@pytest.mark.long
def test_a_frozen_bot_ponders_without_harm(tmp_path: Path):
    if not sandbox_or_skip().can_freeze:
        pytest.skip("no control groups that can be frozen")
    file = tmp_path / "cup.toml"
    entries = "".join(
        f'[[entries]]\nname = "{name}"\ndirectory = "{BOTS / "search"}"\n'
        'command = "python main.py --milliseconds 2 --ponder"\n'
        for name in ("a", "b")
    )
    file.write_text(f'seats = 2\nrules = "basic"\nponder = false\n{entries}')
    done = run_asara("tournament", "run", file, "-o", tmp_path / "run", "--sandbox", "bubblewrap")
    assert done.returncode == 0, done.stderr
    assert "forfeit" not in done.stdout + done.stderr


def test_the_options_of_the_page_exist_with_their_defaults():
    text = read("bots/README.md").partition("### search")[2].partition("### go-search")[0]
    listed = re.findall(r"^\| `(--[a-z-]+)", text, re.MULTILINE)
    assert len(listed) > 5
    assert set(listed) <= set(option_parser()._option_string_actions)
    defaults = dict(re.findall(r"^\| `--([a-z]+) [A-Z]` \| (\w+) \|", text, re.MULTILINE))
    del defaults["search"], defaults["milliseconds"]  # no settings of a search
    assert defaults
    settings = {
        name: f"{value:g}" if isinstance(value, float) else str(value)
        for name, value in asdict(TreeSettings()).items()
        if not isinstance(value, bool)
    }
    assert defaults.items() <= settings.items()
