import csv
import io

import pytest

from asara_server.report.tables import CSV_FILES, csv_tables, safe
from tests.report.runs import report_of, write_run
from tests.report.test_page import HOSTILE, everywhere
from tests.sizes import others_long
from tests.tournament.samples import INFO, mirrored

FORMULAS = ('=HYPERLINK("x")', 'a","=1', "a\n=1")


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_tables_hold_the_numbers_of_the_standings(tmp_path):
    report = report_of(write_run(tmp_path / "run", mirrored()))
    tables = csv_tables(report)
    assert tuple(tables) == CSV_FILES
    standings = report.standings
    for name, lines in (
        ("standings.csv", standings.overall),
        ("without_forfeits.csv", standings.without_forfeits),
        ("by_rules.csv", [line for own in standings.by_rule_sets.values() for line in own]),
    ):
        told = rows(tables[name])
        assert len(told) == len(lines) >= 4
        for row, line in zip(told, lines, strict=True):
            assert (row["entry"], int(row["place"])) == (line.entry, line.place)
            assert float(row["score"]) == line.score
            assert (float(row["low_95"]), float(row["high_95"])) == line.interval_95
            assert int(row["faults"]) == sum(line.faults.values())
    assert len(rows(tables["cross_table.csv"])) == 6
    assert len(rows(tables["by_seat.csv"])) == 2 + 8
    assert {row["entry"] for row in rows(tables["ratings.csv"])} == set(INFO.entries)
    (fault,) = rows(tables["faults.csv"])
    assert (fault["entry"], fault["kind"], fault["latest_reason"]) == (
        "dan",
        "crash",
        "exit code 1",
    )
    assert len(rows(tables["matches.csv"])) == 2 * 96


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "  =1", "＝1", "\u3000=1"])  # noqa: RUF001
def test_no_text_is_a_formula(text):
    assert safe(text).startswith("'")
    for hidden in "\t\r\n\x00":
        assert safe(f"{hidden}{text}")[0] == "\\"


@pytest.mark.parametrize("text", others_long(FORMULAS + HOSTILE, 6))
def test_rows_stay_rows_whatever_a_text_holds(tmp_path, text):
    tables = csv_tables(report_of(everywhere(tmp_path / "run", text)))
    for name, content in tables.items():
        content.encode("utf-8")
        lines = list(csv.reader(io.StringIO(content)))
        assert {len(line) for line in lines} == {len(lines[0])}, name
        for cell in (cell for line in lines[1:] for cell in line):
            assert not cell.startswith(("=", "+", "@", "\t", "\r"))
            assert not cell.startswith("-") or float(cell) < 0
    assert len(rows(tables["standings.csv"])) >= 2
