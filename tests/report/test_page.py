import csv
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asara_server.report.pages import MOST_MATCHES
from asara_server.report.tables import csv_tables
from tests.report.runs import Elements, data_of, page_of, report_of, run_with_replays, write_run
from tests.sizes import others_long
from tests.tournament.samples import COSTS, INFO, RUNNING, SECRET, change_run, match, mirrored, seat


def facts_of(directory: Path) -> dict[str, Any]:
    return dict(data_of(page_of(directory))["tables"]["run"]["rows"])


def excluded(directory: Path) -> list[list[str]]:
    return [list(one.values()) for one in data_of(page_of(directory))["run"]["excluded"]]


# Without scripts


def test_without_scripts_the_page_has_the_rows_of_every_csv_file(tmp_path):
    run, _ = run_with_replays(tmp_path / "run", 3)
    shown = Elements(page_of(run)).tables
    files = csv_tables(report_of(run))
    full = {name for name, text in files.items() if text.count("\n") > 1}
    full -= {"without_forfeits.csv"}  # nobody forfeited
    assert {f"{name}.csv" for name in shown} == full > {"standings.csv", "times.csv"}
    for name, table in shown.items():
        head, *rows = csv.reader(io.StringIO(files[f"{name}.csv"]))
        assert table[0] == [column.replace("_", " ") for column in head]
        assert len(table) == len(rows) + 1
        place = head.index("entry") if "entry" in head else 0
        missing = "all entries" if "entry" in head else "–"
        assert [row[place] for row in table[1:]] == [row[place] or missing for row in rows]


def test_without_scripts_numbers_have_at_most_three_decimals(tmp_path):
    shown = Elements(page_of(write_run(tmp_path / "run", mirrored()))).tables
    numbers = [
        cell
        for name in ("standings", "cross_table", "by_seat", "ratings")
        for row in shown[name][1:]
        for cell in row
        if "." in cell
    ]
    assert len(numbers) > 20
    assert all(re.fullmatch(r"(?:< )?-?(?:\d\.\d{1,3}|\d{2,}\.\d)", one) for one in numbers)


# Forfeits


def test_reasons_that_differ_are_told_and_the_same_one_is_told_once(tmp_path):
    traceback = 'Traceback (most recent call last):\n  File "bot.py"\nline {}\n{}: {}'
    reasons = {
        "r1-basic-0001": ("decision 3 of r1-basic-0001 took 0.5 s", "thinking about 17"),
        "r1-basic-0002": ("decision 41 of r1-basic-0002 took 1.25 s", "thinking about 9"),
        "r1-basic-0003": ("ended", traceback.format(3, "KeyError", 1)),
        "r1-basic-0004": ("ended", f"a line\n{traceback.format(4, 'KeyError', 22)}"),
        "r1-basic-0005": ("ended", traceback.format(3, "ValueError", 1)),
    }
    results = [
        match(name, seat("ann", 1), seat("bob", 2, why, printed=text.split("\n")))
        for name, (why, text) in reasons.items()
    ]
    page = page_of(write_run(tmp_path / "run", results))
    table = data_of(page)["tables"]["faults"]
    without_scripts = [row[2:4] for row in Elements(page).tables["faults"][1:]]
    assert without_scripts == [["5", "5"], ["as above", "as above"], ["as above", "as above"]]
    assert [row[:5] for row in table["rows"]] == [
        ["bob", "crash", 5, 5, "r1-basic-0005"],
        ["bob", "crash", None, None, "r1-basic-0004"],
        ["bob", "crash", None, None, "r1-basic-0002"],
    ]


def test_entries_that_do_not_play_are_named_with_the_reason(tmp_path):
    file = "/data/Anna Lee/cup 2026/eve/bot.toml"
    run = write_run(
        tmp_path / "run",
        mirrored(),
        out={"dan": "build failed: exited with status 101"},
        build_output={"dan": ("error: <b>\x1b[31m\u202e", "   --> src/main.rs:3")},
        suspended={"bob": "suspended after it forfeited 9 of its first 10 matches"},
        left_out={"eve": f"{file}: command: is missing\n{file}: build: leads to /data/x/y"},
    )
    status = "build failed: exited with status 101"
    missing = "eve/bot.toml: command: is missing; eve/bot.toml: build: leads to …/y"
    output = f"{status}; it printed: error: <b>\\u001b[31m\\u202e; --> src/main.rs:3"
    assert excluded(run) == [
        ["dan", "out", output],
        ["bob", "suspended", "suspended after it forfeited 9 of its first 10 matches"],
        ["eve", "left_out", missing],
    ]


# What the run was


def test_a_finished_run_tells_what_its_deals_came_from(tmp_path):
    facts = facts_of(write_run(tmp_path / "run", mirrored()))
    assert facts["deal_commitment"] == INFO.deal_commitment
    assert (facts["tournament_secret"], facts["secret_matches"]) == (SECRET.hex(), True)
    assert (facts["seed"], facts["edition_sha256"]) == ("the seed", INFO.edition_sha256)
    for number, secret in enumerate(("00" * 32, "no hex")):
        run = write_run(tmp_path / str(number), tournament_secret=secret)
        assert facts_of(run)["secret_matches"] is False


@pytest.mark.long
def test_the_processor_time_of_a_run_that_has_ended(tmp_path):
    facts = facts_of(write_run(tmp_path / "ended", mirrored(), costs=COSTS))
    assert (facts["cores_used"], facts["bots_share"]) == (0.5, 0.9)
    assert "bots_share" not in facts_of(write_run(tmp_path / "running", (), costs=COSTS, **RUNNING))


@pytest.mark.parametrize("state", ["running", "cut short"])
def test_before_the_end_neither_seed_nor_secret_nor_replays_are_told(tmp_path, state):
    run, _ = run_with_replays(tmp_path / "run", 3, **RUNNING | {"state": state, "scheduled": 9})
    change_run(run, tournament_secret="5ec7e7")
    page = page_of(run)
    told = page + str(data_of(page))
    assert data_of(page)["run"]["progress"]["over"] == 3
    for secret in ("the seed", "5ec7e7", ".asara", "asara audit"):
        assert secret not in told


def test_replays_are_linked_where_they_are(tmp_path):
    digest = "5a" * 32
    run, _ = run_with_replays(tmp_path / "run", 3, manifest_sha256=digest)
    (run / "replays" / "r1-basic-0002.asara").unlink()
    page = page_of(run)
    links = ["replays/r1-basic-0001.asara", "replays/r1-basic-0003.asara"]
    assert sorted(set(Elements(page).links)) == links
    data = data_of(page)
    assert [match["href"] for match in data["matches"]] == [links[0], None, links[1]]
    facts = dict(data["tables"]["run"]["rows"])
    assert (facts["replays_read"], facts["replays_missing"]) == (2, 1)
    assert facts["audit"] == f"asara audit . --manifest {digest}"


@pytest.mark.long
def test_more_matches_than_people_read_are_cut(tmp_path):
    number = MOST_MATCHES + 5
    results = [match(f"m{n}", seat("ann", 1), seat("bob", 2)) for n in range(number)]
    page = page_of(write_run(tmp_path / "run", results))
    data = data_of(page)
    assert (len(data["matches"]), data["total"]) == (MOST_MATCHES, number)
    assert len(Elements(page).tables["matches"]) == 1_001
    assert "The first 1,000 of 10,010 rows." in page


def test_a_run_without_replays_or_key_has_a_page(tmp_path):
    run = write_run(tmp_path / "run", mirrored(), entries=(), scheduled=0)
    (run / "replays").rmdir()
    (run / "referee.pub").unlink()
    page = page_of(run)
    assert len(data_of(page)["run"]["standings"]["overall"]) == 4
    assert data_of(page)["tables"]["unread"]["rows"] == [
        ["referee.pub: No such file or directory"],
        ["replays: No such file or directory"],
    ]


# Safe to open


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'onmouseover='alert(1)",
    "</style><script>alert(1)</script>",
    "</bdi></td></table><h1>won",
    "{{ 7 * 7 }}{% include 'page.css' %}",
    "javascript:alert(1)",
    "$\\frac{a}{b}$ &lt;b&gt; %s",
    "\x00\x1b[31m\r\n\t\x85",
    "\u202egnp.exe\u2066\u200b\ufeff",
    "\U000e0041 \ue000 \ufdd0",
    "e\u0301" + "\u0301" * 500,
    "../../../etc/passwd",
)


@pytest.fixture(scope="module")
def innocent(tmp_path_factory):
    """The page of a run whose texts are all a word."""
    return Elements(page_of(everywhere(tmp_path_factory.mktemp("innocent") / "run", "word")))


@pytest.mark.parametrize("text", others_long(HOSTILE, 4), ids=range(len(HOSTILE)))
def test_no_text_of_strangers_becomes_part_of_the_page(tmp_path, innocent, text):
    html = page_of(everywhere(tmp_path / "hostile", text))
    page = Elements(html)
    assert page.elements == innocent.elements
    assert page.links == innocent.links
    hidden = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]"
    assert not re.search(hidden, html)
    assert not re.search(hidden, "".join(texts(data_of(html))))
    html.encode("utf-8")


def texts(value: Any) -> list[str]:
    """All texts in a value, keys included."""
    if isinstance(value, dict):
        return [text for pair in value.items() for one in pair for text in texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in texts(one)]
    return [value] if isinstance(value, str) else []


@pytest.mark.long
@pytest.mark.parametrize("organiser", ["/home/anna/cup", "/Users/Anna Lee/cup 2026", "RUN"])
def test_no_source_of_text_carries_a_path_of_the_organiser_to_the_page_or_the_tables(
    tmp_path, organiser
):
    directory = tmp_path / "Anna Lee" / "run"
    path = str(directory) if organiser == "RUN" else organiser
    told = f'python: File "{path}/bots/main.py", line 1: {path if organiser == "RUN" else ""}'
    everywhere(directory, told, named="word")
    (directory / "referee.pub").unlink()
    page = page_of(directory)
    tables = csv_tables(report_of(directory)).values()
    published = "".join([Elements(page).text, *texts(data_of(page)), *tables])
    assert "main.py" in published
    for name in ("anna", "Anna", "bots/", str(tmp_path)):
        assert name not in published


def everywhere(folder: Path, text: str, named: str = "") -> Path:
    """A run that has this text wherever a text can be, or `named` instead of it in names."""
    why, text = text, named or text
    results = [
        replace(
            match(f"{number}{text}", seat(f"{text} 1", 1), seat(f"{text} 2", 2, f"{number} {why}")),
            rule_sets=f"{number} {text}",
            block=text + str(number),
            started=text,
        )
        for number in range(2)
    ]
    results.append(match(f"void {text}", void=True))
    return write_run(
        folder,
        results,
        title=text,
        entries=(f"{text} 1", f"{text} 3"),
        seed=text,
        asara=why,
        edition=why,
        edition_sha256=text,
        deal_commitment=text,
        tournament_secret=text,
        started=text,
        ended=text,
        out={f"{text} 1": why},
        build_output={f"{text} 1": (why,)},
        suspended={f"{text} 2": why},
    )


def test_a_replay_outside_the_folder_is_never_linked(tmp_path):
    run = write_run(tmp_path / "run", [match("../secret", seat("ann", 1), seat("bob", 2))])
    (run / "secret.asara").write_text("x")
    assert Elements(page_of(run)).links == []
