"""Runs in which the processes of the next matches start while others play."""

from pathlib import Path

import pytest

from asara_codec.results import Termination
from asara_server.tournament.bots import early_starts
from tests.tournament import sample_bots
from tests.tournament.runs import play
from tests.tournament.sample_bots import HEADER, write_tournament


@pytest.fixture(autouse=True)
def _many_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start as many at once as is wanted, however busy this machine is."""
    monkeypatch.setattr(early_starts, "usable_cores", lambda: 64)


AHEAD = "started ahead of this match"


def logs(out: Path) -> dict[str, str]:
    """The logs of a run by match and seat."""
    return {
        f"{path.parent.name}/{path.name[0]}": path.read_text()
        for path in sorted((out / "logs").glob("*/*.log"))
    }


def write(folder: Path, header: str, bob: str = sample_bots.GOOD, tables: str = "") -> Path:
    programs = {"ann": sample_bots.GOOD, "bob": bob}
    limits = f"[limits]\nmemory_mb = 64\n{tables}"  # less than any machine has free
    return write_tournament(folder, programs, HEADER + header, limits)


def test_each_match_but_the_first_finds_its_processes_started(tmp_path: Path) -> None:
    header = 'concurrency = 1\nrounds = 2\nprocesses = "match"\n'
    end = play(write(tmp_path, header), tmp_path / "run")
    assert not any(result.forfeits for result in end.results)
    by_seat = logs(tmp_path / "run")
    assert len(by_seat) == 4 * 2
    assert [AHEAD in text for text in by_seat.values()] == [False] * 2 + [True] * 6
    assert all(text.count(": python ") == 1 for text in by_seat.values())


def test_no_process_starts_beside_the_only_match_with_its_deal(tmp_path: Path) -> None:
    header = 'concurrency = 1\nrounds = 2\nprocesses = "match"\n'
    file = write(tmp_path, header)
    file.write_text(file.read_text().replace('"independent"', '"mirrored"'))
    play(file, tmp_path / "run")
    assert [AHEAD in text for text in logs(tmp_path / "run").values()] == (
        [False] * 4 + [True] * 2 + [False] * 2
    )


@pytest.mark.parametrize("processes", ["match", "run"])
def test_without_idle_processes_nothing_starts_ahead(tmp_path: Path, processes: str) -> None:
    header = f'concurrency = 1\nprocesses = "{processes}"\n'
    file = write(tmp_path, header, tables="idle_processes = 0\n")
    play(file, tmp_path / "run")
    by_seat = logs(tmp_path / "run")
    assert not any(AHEAD in text for text in by_seat.values())
    assert sum(text.count(": python ") for text in by_seat.values()) == 4


def test_a_failed_start_ahead_of_a_match_is_that_match_s(tmp_path: Path) -> None:
    header = 'concurrency = 1\nrounds = 3\nprocesses = "match"\n'
    tables = "failed_starts = 4\n"
    end = play(write(tmp_path, header, sample_bots.EXITS, tables), tmp_path / "run")
    lines = [line for result in end.results for line in result.forfeits]
    assert [line.termination for line in lines] == [Termination.NEVER_STARTED] * 6
    printed = "exited with status 1; it printed: loading\ncannot load model.bin"
    assert [line.detail for line in lines[:4]] == [printed] * 4
    assert list(end.unstartable) == ["bob"]
    failed = [text for text in logs(tmp_path / "run").values() if "cannot load" in text]
    assert len(failed) == 4
    assert all(text.count(": python ") == 1 for text in failed)
