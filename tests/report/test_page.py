import re
from pathlib import Path

import pytest

from asara_server.report.model import Report, make_report
from asara_server.report.page import MOST_MATCHES, render
from asara_server.report.run import read_reported_run
from asara_server.report.tables import csv_tables
from asara_server.report.times import time_use
from asara_server.tournament.run.read_run import run_standings
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.model import Standings
from asara_server.tournament.standings.standings import by_schedule
from tests.report.runs import Page, run_with_replays, write_run
from tests.sizes import others_long
from tests.tournament.samples import COSTS, INFO, RUNNING, SECRET, match, mirrored, seat


def report_of(directory: Path) -> Report:
    run = read_reported_run(directory)
    ordered = by_schedule(run.recorded.results)
    standings = run_standings(directory, run.recorded.info, ordered)
    return make_report(run, ordered, standings, time_use(run, ordered))


def page_of(directory: Path) -> Page:
    page = Page(render(report_of(directory)))
    assert page.problems == []
    return page


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return report_of(write_run(tmp_path_factory.mktemp("cup") / "run", mirrored()))


@pytest.fixture(scope="module")
def page(report: Report) -> Page:
    page = Page(render(report))
    assert page.problems == []
    return page


# The numbers


def numbers(standings: Standings, which: str) -> list[list[str]]:
    return [
        [
            str(line.place),
            line.entry,
            f"{line.score:.3f}",
            "{:.3f}–{:.3f}".format(*line.interval_95 or ()),
            line.rank_set,
            f"{line.win_share:.0%}",
            f"{line.prestige:.1f}",
            str(line.matches),
            str(sum(line.faults.values())),
        ]
        for line in getattr(standings, which)
    ]


@pytest.mark.parametrize(
    ("section", "which"), [("standings", "overall"), ("without-forfeits", "without_forfeits")]
)
def test_the_standings_of_the_page_are_those_of_the_file(report, page, section, which):
    rows = [row[:5] + row[6:] for row in page.body(section)]
    assert rows == numbers(report.standings, which)
    assert len(rows) == 4


def test_the_cross_table_has_both_sides_of_every_pair(report, page):
    order = [line.entry for line in report.standings.overall]
    rows = {row[1]: row[2:] for row in page.body("cross-table")}
    assert list(rows) == order
    assert len(report.standings.cross_table) == 6
    for pair in report.standings.cross_table:
        assert rows[pair.entry][order.index(pair.opponent)] == f"{100 * pair.score:.0f}"
        assert rows[pair.opponent][order.index(pair.entry)] == f"{100 * (1 - pair.score):.0f}"
    for place, entry in enumerate(order):
        assert rows[entry][place] == ""


def test_scores_by_rules_by_seat_and_the_ladder(report, page):
    standings = report.standings
    by_rules = {row[0]: row[1::2] for row in page.body("rules")}
    for column, lines in enumerate(standings.by_rule_sets.values()):
        for line in lines:
            assert by_rules[line.entry][column] == f"{line.score:.3f}"
    seats = {row[0]: row[1:] for row in page.body("seats")[1:]}
    assert seats["all"] == [f"{score.score:.3f}" for score in standings.seat_effect]
    for line in standings.overall:
        assert seats[line.entry] == [f"{score.score:.3f}" for score in line.by_seat]
    assert [row[1:] for row in page.body("ladder")] == [
        [line.entry, f"{line.rating:,.0f}", "{:,.0f}–{:,.0f}".format(*line.interval_95)]
        for line in standings.ladder
    ]


def test_faults_are_told_by_entry_and_kind_with_the_last_reason(page):
    assert page.body("faults") == [
        ["dan", "crash", "3", "6.2%", "r1-basic-0006-2 exit code 1"],
    ]
    assert "3 forfeits: crash 3." in page.shown["faults"]


def test_reasons_that_differ_are_told_and_the_same_one_is_told_once(tmp_path):
    reasons = ("a", "b", "b", "c", "d")
    results = [
        match(f"m{number}", seat("ann", 1), seat("bob", 2, reason)).model_copy(
            update={"seconds": float(number)}
        )
        for number, reason in enumerate(reasons)
    ]
    ((*_, latest),) = page_of(write_run(tmp_path / "run", results)).body("faults")
    assert latest == "m4 d m3 c m2 b"


def test_entries_that_only_forfeited_or_never_played_are_named(tmp_path):
    results = [match("m1", seat("ann", 1), seat("bob", 2, "no such file"))]
    told = page_of(write_run(tmp_path / "run", results)).shown["faults"]
    assert "Forfeited every match: bob." in " ".join(told.split())
    assert "Did not play: cid, dan." in " ".join(told.split())


def test_entries_that_never_played_have_neither_a_place_nor_wins(tmp_path):
    results = [match("m1", seat("ann", 1), seat("bob", 2))]
    rows = page_of(write_run(tmp_path / "run", results)).body("standings")
    by_entry = {row[1]: row for row in rows}
    assert by_entry["ann"][0] == "1"
    for name in ("cid", "dan"):
        assert by_entry[name][0] == "–"
        assert "0%" not in by_entry[name]


def test_reasons_that_differ_in_matches_numbers_and_output_only_are_listed_once(tmp_path):
    traceback = 'Traceback (most recent call last):\n  File "bot.py", line {}\n{}: {}'
    reasons = {
        "r1-basic-0001": "decision 3 of r1-basic-0001 took 0.5 s; it printed: thinking about 17",
        "r1-basic-0002": "decision 41 of r1-basic-0002 took 1.25 s; it printed: nearly",
        "r1-basic-0003": f"ended; it printed: {traceback.format(3, 'KeyError', 1)}",
        "r1-basic-0004": f"ended; it printed: a line\n{traceback.format(4, 'KeyError', 22)}",
        "r1-basic-0005": f"ended; it printed: {traceback.format(3, 'ValueError', 1)}",
    }
    results = [match(name, seat("ann", 1), seat("bob", 2, why)) for name, why in reasons.items()]
    (row,) = report_of(write_run(tmp_path / "run", results)).faults
    assert row.forfeits == 5
    assert [reason.match[-1] for reason in row.latest] == ["5", "4", "2"]


def test_folders_that_were_left_out_are_named_with_the_reason(tmp_path):
    file = "/data/Anna Lee/cup 2026/eve/bot.toml"
    why = f"{file}: command: is missing\n{file}: build: leads to /data/x/y"
    page = page_of(write_run(tmp_path / "run", mirrored(), left_out={"eve": why}))
    told = " ".join(page.shown["faults"].split())
    assert "Left out, without a usable bot.toml: eve: eve/bot.toml: command: is missing | " in told
    assert "leads to …/y" in told
    assert "/data" not in page.text
    assert "Lee" not in page.text
    assert "4 entries, 1 left out" in page.text


def test_entries_that_were_suspended_or_did_not_start_are_named_with_the_reason(tmp_path):
    page = page_of(
        write_run(
            tmp_path / "run",
            [match("m1", seat("ann", 1), seat("bob", 2, "late"))],
            suspended={"bob": "suspended after it forfeited 9 of its first 10 matches"},
            out={"dan": "make: <no> target", "stranger": "of another run"},
        )
    )
    told = " ".join(page.shown["faults"].split())
    assert "bob: suspended after it forfeited 9 of its first 10 matches" in told
    assert "dan: make: <no> target" in told
    assert "stranger" not in page.text
    names = {row[1] for row in page.body("standings")}
    assert names == {"ann", "bob suspended", "cid", "dan out"}


def test_a_failed_build_is_shown_with_its_last_lines(tmp_path):
    page = page_of(
        write_run(
            tmp_path / "run",
            [match("m1", seat("ann", 1), seat("bob", 2, "late"))],
            out={"dan": "build failed: exited with status 101"},
            build_output={"dan": ("error: <b>\x1b[31m\u202e", "   --> src/main.rs:3")},
        )
    )
    told = " ".join(page.shown["faults"].split())
    assert "dan: build failed: exited with status 101. The build printed last: error: <b>" in told
    assert "--> src/main.rs:3" in told
    assert not {"\x1b", "\u202e"} & set(page.text)


def test_matches_that_the_referee_failed_in_are_named_unless_they_were_played_again(tmp_path):
    results = [
        _void("lost"),
        _void("again"),
        match("again", seat("ann", 1), seat("bob", 2)).model_copy(update={"attempt": 2}),
    ]
    told = " ".join(page_of(write_run(tmp_path / "run", results)).shown["faults"].split())
    assert "The referee failed in 1 match, which count for nothing: lost." in told


def _void(name: str) -> MatchResult:
    return MatchResult(
        match_id=name,
        round=1,
        rule_sets="basic",
        seats=(),
        void=True,
        started="2026-01-01T10:00:00+00:00",
        seconds=1.0,
    )


# What the run was


def test_a_finished_run_tells_what_its_deals_came_from(page):
    told = page.shown["run"]
    for text in (INFO.deal_commitment, SECRET.hex(), INFO.edition_sha256, "the seed", "yes"):
        assert text in told


@pytest.mark.long
def test_the_processor_time_of_a_run_that_has_ended(tmp_path, page):
    assert "costs" not in page.shown
    page = page_of(write_run(tmp_path / "ended", mirrored(), costs=COSTS))
    told = " ".join(page.shown["costs"].split())
    assert "The cores were 50% busy: 90% of this time with bots" in told
    page = page_of(write_run(tmp_path / "running", mirrored(), costs=COSTS, **RUNNING))
    assert "costs" not in page.shown


def test_a_secret_that_does_not_open_the_commitment_is_told(tmp_path):
    for number, secret in enumerate(("00" * 32, "no hex")):
        run = write_run(tmp_path / str(number), mirrored(), tournament_secret=secret)
        assert "do not trust these deals" in page_of(run).shown["run"]


@pytest.mark.parametrize("state", ["running", "cut short"])
def test_before_the_end_neither_seed_nor_secret_nor_replays_are_told(tmp_path, state):
    run, _ = run_with_replays(tmp_path / "run", 3, **RUNNING | {"state": state, "scheduled": 9})
    (run / "run.json").write_text(
        (run / "run.json")
        .read_text()
        .replace('"tournament_secret":null', '"tournament_secret":"5ec7e7"')
    )
    html = render(report_of(run))
    assert "the seed" not in html
    assert "5ec7e7" not in html
    assert ".asara" not in html
    page = Page(html)
    assert "3 of 9 matches" in page.text
    assert "when the run is finished" in page.shown["matches"]


def test_replays_are_linked_where_they_are(tmp_path):
    digest = "5a" * 32
    run, _ = run_with_replays(tmp_path / "run", 3, manifest_sha256=digest)
    (run / "replays" / "r1-basic-0002.asara").unlink()
    page = page_of(run)
    links = [link for link in page.values("href") if link.startswith("replays")]
    assert links == ["replays/r1-basic-0001.asara", "replays/r1-basic-0003.asara"]
    assert (
        f"asara replay show replays/r1-basic-0001.asara\nasara audit . --manifest {digest}"
        in page.text
    )
    assert "From 2 replays of 3 matches" in page.shown["time"]
    assert "1 replay is missing" in page.shown["time"]


@pytest.mark.long
def test_more_matches_than_people_read_are_cut_with_a_word(tmp_path):
    results = [match(f"m{n}", seat("ann", 1), seat("bob", 2)) for n in range(MOST_MATCHES + 5)]
    page = page_of(write_run(tmp_path / "run", results))
    assert len(page.body("matches")) == MOST_MATCHES
    assert "The first 1,000 of 1,005 matches" in page.shown["matches"]


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
    return Page(render(report_of(everywhere(tmp_path_factory.mktemp("innocent") / "run", "word"))))


@pytest.mark.parametrize("text", others_long(HOSTILE, 4), ids=range(len(HOSTILE)))
def test_no_text_of_strangers_becomes_part_of_the_page(tmp_path, innocent, text):
    html = render(report_of(everywhere(tmp_path / "hostile", text)))
    page = Page(html)
    assert page.problems == []
    assert page.elements == innocent.elements
    assert sorted(a[:2] for a in page.attributes) == sorted(a[:2] for a in innocent.attributes)
    assert page.values("href") == innocent.values("href")
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", html
    )
    html.encode("utf-8")


@pytest.mark.long
@pytest.mark.parametrize("organiser", ["/home/anna/cup", "/Users/Anna Lee/cup 2026", "RUN"])
def test_no_source_of_text_carries_a_path_of_the_organiser_to_the_page_or_the_tables(
    tmp_path, organiser
):
    directory = tmp_path / "Anna Lee" / "run"
    path = str(directory) if organiser == "RUN" else organiser
    told = f'python: File "{path}/bots/main.py", line 1: {path if organiser == "RUN" else ""}'
    report = report_of(everywhere(directory, told, named="word"))
    published = "".join([render(report), *csv_tables(report).values()])
    assert "main.py" in published
    for name in ("anna", "Anna", "bots/", str(tmp_path)):
        assert name not in published


@pytest.mark.long
def test_replays_that_cannot_be_read_are_named_without_their_directory(tmp_path):
    run, _ = run_with_replays(tmp_path / "run", 2)
    (run / "replays" / "r1-basic-0001.asara").write_bytes(b"no replay")
    (run / "referee.pub").write_text("no key")
    page = page_of(run)
    assert "r1-basic-0001.asara: " in page.shown["time"]
    assert "referee.pub" in page.shown["time"]
    assert str(tmp_path) not in page.text


def everywhere(folder: Path, text: str, named: str = "") -> Path:
    """A run that has this text wherever a text can be, or `named` instead of it in names."""
    why, text = text, named or text
    results = [
        match(
            f"{number}{text}",
            seat(f"{text} 1", 1),
            seat(f"{text} 2", 2, f"{number} {why}"),
            rules=f"{number} {text}",
        ).model_copy(update={"block": text + str(number), "started": text})
        for number in range(2)
    ]
    results.append(_void(f"void {text}"))
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


def test_the_page_can_neither_load_nor_run_anything(page):
    assert page.elements.isdisjoint(
        {"script", "img", "link", "iframe", "object", "embed", "base", "form", "audio", "video"}
    )
    assert all(re.match(r"#|replays/", link) for link in page.values("href"))
    assert "src" not in {name for _, name, _ in page.attributes}
    (policy,) = [value for value in page.values("content") if "default-src" in value]
    assert policy.split("; ")[:2] == ["default-src 'none'", "style-src 'unsafe-inline'"]
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    css = Path(render.__globals__["__file__"]).with_name("page.css").read_text()
    assert "url(" not in css
    assert "@import" not in css


def test_a_replay_outside_the_folder_is_never_linked(tmp_path):
    run = write_run(tmp_path / "run", [match("../secret", seat("ann", 1), seat("bob", 2))])
    (run / "secret.asara").write_text("x")
    assert not [link for link in page_of(run).values("href") if "secret" in link]


# Fit to be read


@pytest.mark.long
def test_the_same_run_gives_the_same_bytes(report, tmp_path):
    again = write_run(tmp_path / "elsewhere", mirrored()[::-1])
    assert render(report_of(again)) == render(report)


def test_ids_are_unique_and_all_links_inside_lead_somewhere(page):
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    inside = {link[1:] for link in page.values("href") if link.startswith("#")}
    assert inside
    assert inside <= set(ids)


def test_pictures_have_no_colours_but_those_of_the_style_sheet(page):
    styles = " ".join(value for tag, name, value in page.attributes if name == "style")
    assert "var(--accent)" in styles
    assert not re.search("#[0-9a-f]{3}", styles)


@pytest.mark.long
@pytest.mark.parametrize("number", [0, 1])
def test_a_run_in_which_next_to_nothing_was_played_has_a_page(tmp_path, number):
    page = page_of(write_run(tmp_path / "run", mirrored()[:number], **RUNNING))
    assert [len(page.body("standings")), f"{number} of 96 matches" in page.text] == [4, True]
    assert ("No match has ended." in page.text) == (number == 0)


def test_runs_of_earlier_versions_and_without_replays_or_key_have_a_page(tmp_path):
    run = write_run(tmp_path / "run", mirrored(), entries=(), scheduled=0)
    (run / "replays").rmdir()
    (run / "referee.pub").unlink()
    page = page_of(run)
    assert len(page.body("standings")) == 4
    assert "replays: No such file or directory" in page.shown["time"]
    assert "referee.pub: No such file or directory" in page.shown["time"]
    assert str(tmp_path) not in page.text


@pytest.mark.long
def test_a_page_of_two_hundred_entries_stays_below_two_megabytes(tmp_path):
    names = [f"entry-{number:03}" for number in range(200)]
    results = [
        match(
            f"m{a:03}{b:03}", seat(names[a], 1), seat(names[b], 2, "" if b % 5 else "crash " * 90)
        )
        for a in range(200)
        for b in range(a + 1, 200)
        if (a + b) % 4 == 0
    ]
    html = render(report_of(write_run(tmp_path / "run", results, entries=tuple(names))))
    page = Page(html)
    assert page.problems == []
    assert len(html.encode()) < 2_000_000
    assert len(page.body("standings")) == len(page.body("cross-table")) == 200
    assert {len(row) for row in page.body("cross-table")} == {202}
