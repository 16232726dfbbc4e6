from pathlib import Path

import pytest

from asara_server.cli import main
from asara_server.report.tables import CSV_FILES
from asara_server.tournament.standings.model import Standings
from tests.cli.command import asara
from tests.report.runs import data_of, run_with_replays, write_run
from tests.tournament.samples import mirrored


def report(*words: str | Path) -> None:
    """Run the command in this process."""
    main(["report", *map(str, words)])


def test_a_page_and_tables_are_written_and_hold_the_standings(tmp_path):
    run = write_run(tmp_path / "run", mirrored())
    done = asara("report", run, "--csv", tmp_path / "tables")
    assert (done.returncode, done.stdout) == (0, "")
    assert (
        done.stderr
        == f"Wrote the report to {run / 'report.html'}, and its tables to {tmp_path / 'tables'}\n"
    )
    assert {file.name for file in (tmp_path / "tables").iterdir()} == set(CSV_FILES)
    asara("status", run, "--json", tmp_path / "standings.json")
    standings = Standings.model_validate_json((tmp_path / "standings.json").read_bytes())
    rows = data_of((run / "report.html").read_text())["run"]["standings"]["overall"]
    assert [(row["entry"], row["score"]) for row in rows] == [
        (line.entry, line.score) for line in standings.overall
    ]


@pytest.mark.long
def test_the_page_can_lie_elsewhere_and_is_the_same_there(tmp_path):
    run, _ = run_with_replays(tmp_path / "run", 2)
    (tmp_path / "new").mkdir()
    for file in (run / "report.html", tmp_path / "new" / "page.html"):
        with pytest.raises(SystemExit) as ended:
            report(run, "--out", file)
        assert not ended.value.code
    assert (run / "report.html").read_bytes() == (tmp_path / "new" / "page.html").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"run", "new"}
