"""What a tournament prints, publishes and proves, and what other commands read from its run."""

import json
import re
import shutil
import signal
import urllib.request
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from asara.v1.replay_pb2 import Replay
from tests.contract.doors import (
    EXITS,
    STEADY,
    asara,
    refusal,
    running,
    web,
    write_tournament,
)
from tests.events import EVENT_S, wait_until
from tests.sizes import others_long

PUBLISHED = {
    "logs",
    "manifest.json",
    "manifest.json.sig",
    "referee.pub",
    "replays",
    "results.jsonl",
    "run.json",
    "run.log",
    "standings.json",
    "tournament.toml",
    "tree_head.json",
    "tree_head.json.sig",
}


class Cup:
    """A tournament of two bots that play and one that does not start, and what the run printed."""

    def __init__(self, folder: Path) -> None:
        bots = {"ann": STEADY, "bob": STEADY, "exits": EXITS}
        self.file = write_tournament(folder, bots)
        self.run = folder / "runs" / "cup"
        self.done = asara("tournament", "run", self.file, "--out", self.run)
        self.manifest = sha256((self.run / "manifest.json").read_bytes()).hexdigest()

    @property
    def replays(self) -> list[Path]:
        return sorted((self.run / "replays").iterdir())


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Cup:
    return Cup(tmp_path_factory.mktemp("contract"))


class Prepared:
    """A run that was prepared, looked at and then played, and what was seen of it."""

    def __init__(self, folder: Path) -> None:
        self.file = write_tournament(folder, {"ann": STEADY, "bob": STEADY})
        self.run, self.key = folder / "run", folder / "new.key"
        words = ("tournament", "run", self.file, "--out", self.run, "--key", self.key)
        self.printed = asara(*words, "--prepare").stderr
        self.files = {path.name: path.read_bytes() for path in self.run.glob("*.json*")}
        self.manifest = sha256(self.files["manifest.json"]).hexdigest()
        self.status = asara("status", self.run).stdout
        asara("audit", self.run, "--manifest", self.manifest, status=3)
        self.begun = asara(*words, "--resume").stderr


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return Prepared(tmp_path_factory.mktemp("prepared"))


def results(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "results.jsonl").read_text().splitlines()]


def played(run: Path) -> list[tuple[Any, ...]]:
    """Return what two runs of the same tournament have in common."""
    return sorted((row["match_id"], row["seats"], row["void"]) for row in results(run))


def test_a_run_prints_standings_and_what_happened(cup: Cup) -> None:
    lines = cup.done.stdout.splitlines()
    printed = cup.done.stderr
    assert max(map(len, lines)) <= 80
    assert lines[0] == "Cup: 6 matches in 3 blocks"
    assert " ".join(lines[1].split()) == (
        "# entry score 95% interval rank range wins prestige matches forfeits"
    )
    assert lines[4].split()[1] == "exits"
    assert lines[4].split()[-2:] == ["4", "4"]
    assert [line.split() for line in lines[6:9]] == [
        ["Forfeits"],
        ["entry", "never", "started"],
        ["exits", "4"],
    ]
    assert "exits forfeits" in printed
    assert re.search(
        r"\nCPU usage: \S+ of all cores; of that, \S+ by bots, \S+ by the referee", printed
    )
    assert printed.endswith(f"\nTo write a report: asara report {cup.run}\n")
    assert "exits is out: not started again after 3 failures in a row: exited with" in printed
    logs = (cup.run / "logs").rglob("*-exits.log")
    assert any("cannot load model.bin" in log.read_text() for log in logs)


def test_a_run_publishes_its_files(cup: Cup) -> None:
    assert {path.name for path in cup.run.iterdir()} >= PUBLISHED
    assert (cup.run / "tournament.toml").read_text() == cup.file.read_text()
    assert [path.stem for path in cup.replays] == sorted(r["match_id"] for r in results(cup.run))
    info, log = json.loads((cup.run / "run.json").read_text()), (cup.run / "run.log").read_text()
    assert f"Manifest (SHA-256): {cup.manifest}\n" in cup.done.stderr
    assert cup.manifest in log.splitlines()[0]
    assert f"Deal commitment (SHA-256): {info['deal_commitment']}\n" in cup.done.stderr
    assert info["deal_commitment"] in log.splitlines()[0]
    assert (
        "Tournament secret (publish it now, so that others can verify the deals): "
        f"{info['tournament_secret']}\nResults, replays and bot output: {cup.run}\n"
    ) in cup.done.stderr
    assert "match started" in log


def test_a_result_is_a_row_of_these_fields(cup: Cup) -> None:
    rows = results(cup.run)
    assert len(rows) == 6
    for row in rows:
        assert set(row) == {
            *("match_id", "attempt", "round", "rule_sets", "block", "duplicate_deal", "seats"),
            *("void", "void_reason", "lost", "replay_sha256", "started", "seconds"),
        }
        assert [set(seat) for seat in row["seats"]] == [
            {"entry", "rank", "prestige", "termination", "detail", "printed"}
        ] * 2
        replay = cup.run / "replays" / f"{row['match_id']}.asara"
        assert row["replay_sha256"] == sha256(replay.read_bytes()).hexdigest()
        entries = {seat["entry"]: seat for seat in row["seats"]}
        if "exits" in entries:
            assert entries.pop("exits")["rank"] == 2
            assert [seat["rank"] for seat in entries.values()] == [1]
        else:
            ordered = sorted(row["seats"], key=lambda seat: -seat["prestige"])
            assert [seat["termination"] for seat in ordered] == ["completed"] * 2
            assert ordered[0]["rank"] == 1


def test_standings_add_up_to_the_results(cup: Cup) -> None:
    standings = json.loads((cup.run / "standings.json").read_text())
    assert standings["complete"]
    assert standings["matches"] == {"scheduled": 6, "played": 6, "void": 0, "blocks": 3}
    assert {row["entry"]: row["matches"] for row in standings["overall"]} == {
        "ann": 4,
        "bob": 4,
        "exits": 4,
    }
    assert sum(row["score"] for row in standings["overall"]) == pytest.approx(1.5)
    last = standings["overall"][-1]
    assert (last["entry"], last["score"], last["place"]) == ("exits", 0, 3)
    shown = asara("status", cup.run).stdout
    assert "\n".join(cup.done.stdout.splitlines()[:5]) in shown


def test_a_run_is_not_overwritten(cup: Cup) -> None:
    assert refusal("tournament", "run", cup.file, "--out", cup.run) == (
        f"asara: {cup.run}: already contains a run; choose another folder, or continue the run: "
        f"asara tournament run {cup.file} --out {cup.run} --resume\n"
    )


def test_what_one_seat_saw_is_shown_and_everything_is_exported(cup: Cup) -> None:
    replay = cup.replays[0]
    shown = asara("replay", "show", replay, "--seat", "1").stdout
    assert shown.startswith(f"Match {replay.stem}, as seat 1 ")
    exported = json.loads(asara("replay", "export", replay).stdout)
    assert set(exported) <= {field.json_name for field in Replay.DESCRIPTOR.fields}
    page = cup.run.parent / "page.html"
    asara("replay", "page", replay, "--out", page)
    assert page.read_text().startswith("<!doctype html>")


def test_status_and_report(cup: Cup, tmp_path: Path) -> None:
    assert asara("status", cup.run).stdout.startswith("Cup: finished")
    asara("report", cup.run, "--out", tmp_path / "report.html")
    assert "exits" in (tmp_path / "report.html").read_text()


def test_what_cannot_be_done_ends_with_status_2(tmp_path: Path) -> None:
    (tmp_path / "a.asara").write_text("no replay")
    for words, text in (
        ("tornament", "unknown command 'tornament'; did you mean 'tournament'?"),
        ("status none", "none: not the folder of a run"),
        ("tournament plan none.toml", "none.toml: no such file"),
        ("audit none", "none: no such file or folder"),
        ("replay show none", "none: no such file"),
        ("replay show a.asara", "a.asara: not an ASARA replay"),
    ):
        assert refusal(*words.split(), cwd=tmp_path).startswith(f"asara: {text}")


def test_a_sound_run_is_audited_with_status_0(cup: Cup) -> None:
    done = asara("audit", cup.run, "--manifest", cup.manifest)
    assert done.stdout.endswith("6 passed, 0 failed.\nThe run is sound.\n")
    asara("audit", cup.run, "--manifest", "0" * 64, status=1)


def flip_last_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def exchange_ranks(run: Path) -> None:
    path = run / "results.jsonl"
    first, rest = path.read_text().split("\n", 1)
    row = json.loads(first)
    one, other = row["seats"]
    one["rank"], other["rank"] = other["rank"], one["rank"]
    path.write_text(json.dumps(row, separators=(",", ":")) + "\n" + rest)


FORGERIES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a bit of a replay's signature": (
        "replays",
        lambda run: flip_last_bit(min((run / "replays").iterdir())),
    ),
    "a missing replay": ("replays", lambda run: min((run / "replays").iterdir()).unlink()),
    "a result": ("results.jsonl", exchange_ranks),
    "the manifest": (
        "manifest.json",
        lambda run: (run / "manifest.json").write_text(
            (run / "manifest.json").read_text().replace("Cup", "Cap")
        ),
    ),
    "the manifest's signature": (
        "manifest.json",
        lambda run: (run / "manifest.json.sig").write_bytes(bytes(64)),
    ),
    "the standings": (
        "standings.json",
        lambda run: (run / "standings.json").write_text(
            (run / "standings.json").read_text().replace('"bob"', '"Bob"')
        ),
    ),
}


@pytest.mark.parametrize("forgery", others_long(FORGERIES, len(FORGERIES)))
def test_what_was_changed_is_named_with_status_1(cup: Cup, tmp_path: Path, forgery: str) -> None:
    run = Path(shutil.copytree(cup.run, tmp_path / "cup"))
    named, change = FORGERIES[forgery]
    change(run)
    assert named in asara("audit", run, status=1).stdout


def test_the_web_serves_the_runs_of_a_folder(cup: Cup) -> None:
    def get(path: str) -> Any:
        with urllib.request.urlopen(f"{address}{path}", timeout=EVENT_S) as answer:
            return json.load(answer)

    with web(cup.run.parent) as address:
        (run,) = get("/api/runs")["runs"]
        assert run["name"] == "cup"
        standings = wait_until(
            "they are computed, while nobody waits",
            lambda: get("/api/runs/cup")["standings"],
        )
        assert standings["overall"][-1]["entry"] == "exits"


def test_the_manifest_can_be_published_before_the_first_match(prepared: Prepared) -> None:
    printed, run = prepared.printed, prepared.run
    assert printed.startswith(f"Created the signing key {prepared.key}; keep a backup of it.\n")
    manifest = prepared.files["manifest.json"]
    fields = json.loads(manifest)
    assert f"Manifest (SHA-256): {prepared.manifest}\n" in printed
    assert f"Deal commitment (SHA-256): {fields['deal_commitment']}\n" in printed
    assert f"Public key (Ed25519): {fields['public_key']}\n" in printed
    assert "--resume" in printed
    assert prepared.files["results.jsonl"] == b""
    assert json.loads(prepared.files["run.json"])["state"] == "prepared"
    assert prepared.status.startswith(
        f"Cup: prepared\nTo start playing: asara tournament run {prepared.file} --out "
    )
    assert "Duration" not in prepared.status

    assert "Created the signing key" not in prepared.begun
    assert (run / "manifest.json").read_bytes() == manifest
    info = json.loads((run / "run.json").read_text())
    assert (info["state"], info["resumed"], info["resumed_with"]) == ("finished", None, [])
    asara("audit", run, "--manifest", prepared.manifest)


def test_a_run_that_is_killed_goes_on_and_ends_as_one_that_is_not(
    prepared: Prepared, tmp_path: Path
) -> None:
    calm, killed = prepared.run, tmp_path / "killed"
    words = ("tournament", "run", prepared.file, "--out", killed)
    slow = {"PAUSE_S": "0.02"}
    with running("-v", *words, **slow) as process:
        assert process.stderr is not None
        while "match started" not in (line := process.stderr.readline()):
            assert line, "the run ended before a match started"
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert len(results(killed)) < len(results(calm))
    asara(*words, "--resume")
    assert played(killed) == played(calm)
    same = [(run / "standings.json").read_bytes() for run in (killed, calm)]
    assert same[0] == same[1]
    asara("audit", killed)
