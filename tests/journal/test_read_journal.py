"""A run can be read in another language from its journal and the description of the file."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.tournament.played_runs import play_run

SCRIPT = Path("scripts/examples/read_journal.mjs")


@pytest.mark.skipif(not shutil.which("node"), reason="there is no Node.js")
def test_the_standings_and_every_signature_are_in_the_journal(tmp_path: Path) -> None:
    run = play_run(tmp_path)
    command = ["node", str(SCRIPT), str(run)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == "The run is finished; all signatures are the referee's.\n"
    standings = json.loads((run / "standings.json").read_text())["overall"]
    assert done.stdout.splitlines() == [
        f"{row['entry']}\t{row['matches']}\t{row['score']:.3f}" for row in standings
    ]
    journal = bytearray((run / "run.journal").read_bytes())
    journal[len(journal) // 2] ^= 1
    (run / "run.journal").write_bytes(journal)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "damaged" in done.stderr
