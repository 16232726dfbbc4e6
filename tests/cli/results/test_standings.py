from itertools import combinations
from pathlib import Path

import pytest

from asara_server.cli.display.results import score_text
from tests.cli.command import asara
from tests.replay.test_bombs import limited
from tests.tournament.samples import (
    INFO,
    change_run,
    match,
    mirrored,
    seat,
    write_results,
    write_run,
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run directory with the files that standings are computed from."""
    return write_run(tmp_path / "run", mirrored())


def shown(run: Path, *options: str) -> str:
    """Return what `asara status` prints after the progress."""
    done = asara("status", run, *options)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.partition("\n\n")[2]


def test_standings_are_computed_from_the_results(run: Path) -> None:
    lines = shown(run).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "Spring cup: 96 matches in 48 blocks"
    assert lines[1].split() == (
        [
            "#",
            "entry",
            "score",
            *("95%", "interval", "rank", "range"),
            "wins",
            "prestige",
            "matches",
            "forfeits",
        ]
    )
    assert {line.split()[1] for line in lines[2:6]} == set(INFO.entries)
    assert "Head-to-head scores (row against column)" not in lines
    for line in lines[2:6]:
        best, _, worst = line.split()[4].partition("–")
        assert 1 <= int(best) <= int(line.split()[0]) <= int(worst or best) <= 4


def test_a_score_that_rounds_to_zero_has_no_sign() -> None:
    assert [*map(score_text, (-0.0, -0.0004, -0.0006, 0.5))] == [
        "0.000",
        "0.000",
        "-0.001",
        "0.500",
    ]


def test_folders_that_were_left_out_are_named_in_one_line(tmp_path: Path) -> None:
    folders = {f"team-{number:02}": "a fault" for number in range(12)}
    run = write_run(tmp_path / "run", mirrored(), left_out=folders)
    named = ", ".join(f"team-{number:02}" for number in range(10))
    line = f"Skipped, because they have no usable bot.toml: {named} and 2 more"
    assert " ".join(shown(run).split()).count(line) == 1


def test_blocks_with_a_forfeit_can_be_left_out_as_a_whole(run: Path) -> None:
    title, _, table = shown(run, "--without-forfeits").partition("\n\n")[0].partition("\n")
    assert title == "Spring cup, without forfeits: 90 of 96 matches in 45 blocks"
    assert "crash" not in table
    assert "forfeits" not in table


def test_the_cross_table_adds_up_to_one_across_its_diagonal(run: Path) -> None:
    table = shown(run, "--cross").split("Head-to-head scores (row against column)\n")[1]
    lines = table.partition("\n\n")[0].splitlines()
    assert lines[0].split() == ["#", "entry", "1", "2", "3", "4"]
    cells = [line.split()[2:] for line in lines[1:]]
    assert len(cells) == 4
    assert max(map(len, lines)) <= 80
    for row, column in combinations(range(4), 2):
        assert abs(float(cells[row][column]) + float(cells[column][row]) - 1) < 0.002
    assert [cells[place][place] for place in range(4)] == ["–"] * 4


def test_a_wide_cross_table_is_shown_in_parts(run: Path) -> None:
    names = [f"contestant-no-{number:02}" for number in range(11)]
    pairs = combinations(names, 2)
    results = [match(f"m{n}", seat(a, 1), seat(b, 2)) for n, (a, b) in enumerate(pairs)]
    write_results(run, *results)
    table = shown(run, "--cross").split("(row against column)\n")[1].partition("\n\nForfeits")[0]
    assert max(map(len, table.splitlines())) <= 80
    heads = [line.split() for line in table.splitlines() if "entry" in line]
    assert heads == [
        ["#", "entry", *map(str, range(1, 9))],
        ["#", "entry", *map(str, range(9, 16))],
    ]
    assert table.count("contestant-no-10") == 2


def test_a_name_that_is_too_long_for_the_table_is_broken_not_cut(run: Path) -> None:
    name = "a-name-of-forty-characters-which-is-most"
    entries = ("ann", "bob", "cid", name)
    change_run(run, entries=entries)
    write_results(run, *mirrored(entries))
    lines = shown(run).splitlines()
    assert max(map(len, lines)) <= 80
    start = next(number for number, line in enumerate(lines) if "a-name" in line)
    words = [lines[start].split()[1], *(line.strip() for line in lines[start + 1 : start + 4])]
    assert "".join(words).startswith(name)


def test_a_run_that_goes_on_has_standings(run: Path) -> None:
    write_results(run, *mirrored()[:5])
    assert shown(run).startswith("Spring cup: 5 of 96 matches in 3 blocks\n")
    write_results(run)
    assert shown(run, "--cross").startswith("No match is over yet.\n")


APART = (("ann", "bob"), ("cid", "dan"))


def test_entries_that_no_chain_of_matches_connects_are_not_compared(tmp_path: Path) -> None:
    results = [match(f"m{n}", seat(a, 1), seat(b, 2)) for n, (a, b) in enumerate(APART * 12)]
    text = shown(write_run(tmp_path / "run", results))
    assert "No chain of matches connects cid, dan with the other entries" in text
    rows = {row[1]: row[4] for row in map(str.split, text.splitlines()[2:6])}
    assert rows == {"ann": "1–3", "bob": "2–4", "cid": "1–3", "dan": "2–4"}


@pytest.mark.long
def test_many_matches_take_little_memory(tmp_path: Path) -> None:
    names = [f"e{number:03}" for number in range(200)]
    results = [
        match(f"m{n}", seat(names[n % 200], 1), seat(names[(7 * n + 1) % 200], 2))
        for n in range(20_000)
    ]
    run = write_run(tmp_path / "run", results, entries=tuple(names), scheduled=len(results))
    status, text, most = limited("status", run)
    assert (status, "20,000 matches" in text) == (0, True)
    assert most < 200e6  # 100,000 take less than 500 MB
