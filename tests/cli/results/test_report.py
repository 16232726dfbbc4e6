from asara_server.report.tables import CSV_FILES
from asara_server.tournament.standings.model import Standings
from tests.cli.command import asara
from tests.report.runs import data_of, write_run
from tests.tournament.samples import mirrored


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
