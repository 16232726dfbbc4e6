"""Runs that end once their ranks are settled."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from asara_server.tournament.run.read_run import read_run
from asara_server.tournament.standings.model import Standings
from asara_server.tournament.trust.run_audit import RunAudit
from asara_server.tournament.trust.signed_documents import Published
from tests.cli.command import asara, refusal
from tests.sizes import others_long
from tests.tournament.played_runs import HEADER, Forger, play_run
from tests.tournament.sample_bots import write_tournament

UNTIL = (
    HEADER.replace("rounds = 2", "rounds = 30")
    + 'until = "ranks settled"\n[limits]\nsuspend_share = 1.0\n'
)
LOOKS = (4, 6, 8, 12, 18, 28, 40, 60)
"""After 2, 3, 4, 6, 9, 14, 20 and 30 rounds of one block."""
PAIR = ("ann", "bob")
SETTLED = 18
"""If one wins every match, nine blocks settle it."""


def standings(run: Path) -> Standings:
    return Standings.model_validate_json((run / "standings.json").read_bytes())


def faults(run: Path) -> list[str]:
    return RunAudit(run, Published()).faults


@pytest.fixture(scope="module")
def early(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play_run(tmp_path_factory.mktemp("early"), UNTIL, names=PAIR, loser="bob")


def test_a_run_ends_when_its_ranks_are_settled_and_says_so(early: Path) -> None:
    found = standings(early)
    assert found.looks == LOOKS
    assert (found.matches.scheduled, found.matches.played) == (SETTLED, SETTLED)
    assert found.complete
    assert found.ended_early
    assert [row.ranks for row in found.overall] == [(1, 1), (2, 2)]
    assert read_run(early).info.state == "finished"
    report = RunAudit(early, Published())
    assert report.faults == []
    assert "ended after 18 of 60 matches, because its ranks were settled" in report.notes
    shown = " ".join(asara("status", early).stdout.split())
    assert "The run ended early, because the ranks were settled; the maximum was 60" in shown
    assert "The intervals and rank ranges allow for 8 checks of the results" in shown


def test_a_run_without_a_clear_result_plays_everything(tmp_path: Path) -> None:
    run = play_run(tmp_path, UNTIL, names=PAIR)  # everybody wins in seat 0
    found = standings(run)
    assert found.matches.played == 60
    assert not found.ended_early
    assert faults(run) == []


@pytest.mark.parametrize("most", others_long([7, SETTLED - 1], 2))
def test_a_run_that_is_resumed_ends_at_the_same_look(
    most: int, early: Path, tmp_path: Path
) -> None:
    run = play_run(tmp_path, UNTIL, names=PAIR, loser="bob", most=most)
    assert not standings(run).complete
    assert faults(run) == []
    look = "Ends early if the ranks are settled; next check after"
    assert f"{look} {next(n for n in LOOKS if n > most)} matches." in asara("status", run).stdout
    play_run(tmp_path, UNTIL, names=PAIR, loser="bob", resume=True)
    assert faults(run) == []
    assert standings(run).overall == standings(early).overall


def test_intervals_allow_for_every_look(early: Path, tmp_path: Path) -> None:
    once = UNTIL.replace("rounds = 30", "rounds = 9").replace('until = "ranks settled"', "")
    run = play_run(tmp_path, once, names=PAIR, loser="bob")
    for one, other in zip(standings(early).overall, standings(run).overall, strict=True):
        assert one.interval_95
        assert other.interval_95
        assert one.score == other.score
        width, narrower = (high - low for low, high in (one.interval_95, other.interval_95))
        assert width > 1.2 * narrower


def _earlier(forger: Forger) -> None:
    forger.results = forger.results[:12]
    forger.head = forger.head.model_copy(update={"scheduled": 12})


def _other_looks(forger: Forger) -> None:
    forger.manifest = forger.manifest.model_copy(update={"looks": (SETTLED, 60)})


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (_earlier, "tree_head.json: scheduled: expected 60 by results.jsonl; found 12"),
        (_other_looks, "manifest.json: looks: expected '4, 6, 8, 12, 18, 28, 40, 60' by"),
    ],
)
def test_the_audit_looks_again(
    change: Callable[[Forger], None], fault: str, early: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(early, tmp_path / "run"))
    forger = Forger(run)
    change(forger)
    forger.sign()
    assert any(text.startswith(fault) for text in faults(run)), faults(run)


def test_a_run_that_goes_on_too_long_is_found(tmp_path: Path) -> None:
    always = UNTIL.replace('until = "ranks settled"', "")
    run = play_run(tmp_path, always, names=PAIR, loser="bob")
    forger = Forger(run)
    until = {"looks": LOOKS, "places": 2}
    forger.manifest = forger.manifest.model_copy(update={**until, "may_end_early": True})
    forger.sign()
    found = faults(run)
    assert "tree_head.json: scheduled: expected 18 by results.jsonl; found 60" in found
    assert sum("extra: the ranks were settled after 18 matches" in text for text in found) == 42


def test_the_plan_names_the_looks_and_what_a_precision_takes(early: Path, tmp_path: Path) -> None:
    file = write_tournament(tmp_path, dict.fromkeys(PAIR, ""), UNTIL)
    shown = asara("tournament", "plan", file, "--precision", "0.03").stdout
    assert "checks this after 4, 6, 8, 12, 18, 28, 40 matches" in " ".join(shown.split())
    # ⅛ is the variance of a block of two won or lost matches, and 2.734 the quantile at 8 looks
    assert "rounds = 1039" in shown
    shown = asara("tournament", "plan", file, "--precision", "0.03", "--pilot", early).stdout
    assert "rounds = 10." in shown  # who always wins needs no more than the fewest
    assert "--pilot is for --precision" in refusal("tournament", "plan", file, "--pilot", early)
