"""What a command prints about the forfeits of a run."""

from pathlib import Path

import pytest

from asara_codec.results import Termination
from asara_server.cli.display.faults import fault_lines, warn_of_faults
from asara_server.tournament.run.costs import RunCosts
from asara_server.tournament.runner import RunEnd
from asara_server.tournament.standings.standings import compute_standings
from tests.tournament.samples import match, seat

RESULTS = [
    match(f"r1-basic-000{number}", seat("ann", 1), seat("bob", 2, why, kind))
    for number, (why, kind) in enumerate(
        [
            ("ended", Termination.CRASH),
            ("ended again", Termination.CRASH),
            ("took 1 s", Termination.TIME_OUT),
            ("ended again", Termination.CRASH),
        ],
        1,
    )
]


def test_a_line_tells_the_first_forfeit_of_a_kind_and_the_number_of_others() -> None:
    assert fault_lines(RESULTS) == [
        "bob forfeits match r1-basic-0001 and 2 more (reason: crash): ended",
        "bob forfeits match r1-basic-0003 (reason: time out): took 1 s",
    ]


def test_a_person_leaves_and_does_not_crash() -> None:
    away = "was away when its time for decision 5 ran out"
    results = [match("r1-basic-0001", seat("you", 2, away, Termination.CRASH), seat("random", 1))]
    said = "you forfeit match r1-basic-0001 (reason: {}): " + away
    assert fault_lines(results, ["you"]) == [said.format("left")]
    assert fault_lines(results) == [said.format("crash")]  # a bot that is called so


@pytest.mark.parametrize("number", [1, 4])
def test_the_command_that_shows_the_other_forfeits_is_named(
    number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    results = RESULTS[:number]
    standings = compute_standings("cup", ("ann", "bob"), number, results)
    end = RunEnd(tuple(results), standings, (), {}, {}, RunCosts())
    warn_of_faults(end, Path("runs/my cup/run.log"))
    named = "asara status 'runs/my cup'" in capsys.readouterr().err
    assert named == (number > 1)
