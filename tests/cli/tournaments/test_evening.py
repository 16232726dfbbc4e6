"""An organiser's evening: entries from folders, the run, its audit, and the bundles for authors."""

import json
import re
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from asara_server.tournament.trust.manifest import Manifest, ManifestEntry
from asara_server.tournament.trust.run_audit import tournament_faults
from tests.cli.command import asara, refusal
from tests.tournament import sample_bots
from tests.tournament.samples import match, seat, write_run

HEAD = f"""
title = "Evening"
seats = 2
rules = "basic"
seed = "{sample_bots.SEED}"
entries_from = "submissions/*"

[clocks]
start_up_s = 120
time_bank_s = 60
"""
PLAIN = 'command = "python bot.py"\n'


def says(secret: str, program: str) -> str:
    return f'print("the secret of {secret}", flush=True)\n{program}'


BOTS = {
    "ann": (PLAIN, says("ann", sample_bots.GOOD)),
    "bob": (PLAIN, says("bob", "import sys\nsys.exit(3)\n")),
    "cid": (f'{PLAIN}build = "python build.py"\n', sample_bots.GOOD),
    "dan": (f'{PLAIN}team = "ann"\n', sample_bots.GOOD),
}


def submit(folder: Path) -> Path:
    for name, (text, program) in BOTS.items():
        path = folder / "submissions" / name
        path.mkdir(parents=True)
        (path / "bot.toml").write_text(text)
        (path / "bot.py").write_text(program)
        (path / "build.py").write_text(says(name, "raise SystemExit(4)\n"))
    (folder / "cup.toml").write_text(HEAD)
    return folder / "cup.toml"


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a finished run, whose bundles are written."""
    folder = tmp_path_factory.mktemp("evening")
    done = asara("tournament", "run", submit(folder), "--out", folder / "run", status=0)
    assert done.stderr.count("skipped: submissions/dan/bot.toml: team: is for the organiser") == 2
    done = asara("bundle", folder / "run", status=0)
    assert done.stderr.startswith(f"Wrote 3 bundles to {folder / 'run' / 'bundles'}\n")
    return folder


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run that is prepared only."""
    folder = tmp_path_factory.mktemp("prepared")
    asara("tournament", "run", submit(folder), "--out", folder / "run", "--prepare", status=0)
    return folder


def bundle_of(run: Path, entry: str) -> dict[str, bytes]:
    """Return the files in the bundle of an entry, without its folder."""
    with zipfile.ZipFile(run / "bundles" / f"{entry}.zip") as archive:
        names = archive.namelist()
        assert all(name.startswith(f"{entry}/") for name in names)
        return {name.partition("/")[2]: archive.read(name) for name in names}


# The manifest and the audit


def test_the_run_records_the_folders_and_the_audit_derives_it_from_them(evening: Path) -> None:
    run = evening / "run"
    manifest = json.loads((run / "manifest.json").read_text())
    assert [(one["name"], one["folder"]) for one in manifest["entries"]] == [
        ("ann", "ann"),
        ("bob", "bob"),
        ("cid", "cid"),
    ]
    assert manifest["entries"][0]["bot_toml_sha256"] == sha256(PLAIN.encode()).hexdigest()
    assert manifest["left_out"] == ["dan"]
    why = json.loads((run / "run.json").read_text())["left_out"]
    assert list(why) == ["dan"]
    assert why["dan"].startswith("submissions/dan/bot.toml: team: is for the organiser")
    shown = asara("status", run).stdout
    assert "\nSkipped, because they have no usable bot.toml: dan\n" in shown
    asara("audit", run, "--jobs", "1", status=0)


def test_the_audit_compares_the_entries_with_the_tournament_file(prepared: Path) -> None:
    run = prepared / "run"
    content = (run / "tournament.toml").read_bytes()
    manifest = Manifest.model_validate_json((run / "manifest.json").read_bytes())
    assert list(tournament_faults(content, manifest)) == []
    first, *others = manifest.entries
    forged = first.model_copy(update={"folder": None, "bot_toml_sha256": None})
    (fault,) = tournament_faults(
        content, manifest.model_copy(update={"entries": (forged, *others)})
    )
    assert fault.startswith("manifest.json: entries: expected ")
    assert fault.endswith(" by tournament.toml; found ('ann')")
    content = b"entries = 3\n"
    changes = {"tournament_sha256": sha256(content).hexdigest(), "entries": (forged,)}
    (fault,) = tournament_faults(content, manifest.model_copy(update=changes))
    assert fault == "manifest.json: entries: expected () by tournament.toml; found ('ann')"


LISTED = b"""
[[entries]]
directory = "submissions/ann"
[[entries]]
name = "bob"
command = "./bob"
"""


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        ({"ann": "ann", "bob": None}, ""),
        ({"ann": None, "bob": None}, r"expected \(None, 'bob'\) .* found \('bob'\)"),
        ({"ann": "ann", "bob": "bob"}, r"expected \('ann', 'bob'\) .* found \('ann'\)"),
        ({"ann": "ann"}, r"expected \('ann', 'bob'\) .* found \('ann'\)"),
        ({"ann": "ann", "bob": None, "cid": None}, r"found \('ann', 'bob', 'cid'\)"),
        ({"ann": "ann", "bob": None, "cid": "cid"}, "from folders, although .* no entries_from"),
    ],
)
def test_the_audit_compares_entries_that_are_listed_with_their_folders(
    prepared: Path, entries: dict[str, str | None], fault: str
) -> None:
    manifest = Manifest.model_validate_json((prepared / "run" / "manifest.json").read_bytes())
    changes = {
        "tournament_sha256": sha256(LISTED).hexdigest(),
        "entries": tuple(
            ManifestEntry(name=name, team="", remote=False, folder=folder)
            for name, folder in entries.items()
        ),
    }
    faults = list(tournament_faults(LISTED, manifest.model_copy(update=changes)))
    assert len(faults) == bool(fault)
    assert re.search(fault, "".join(faults)), faults


@pytest.mark.parametrize(
    ("folder", "text", "fault"),
    [
        ("ann", f"{PLAIN}# mended\n", "the bot.toml in the folder 'ann' is another one"),
        ("bob", "", "the folder 'bob' is gone, or its bot.toml cannot be used any more"),
        ("dan", PLAIN, "the folder 'dan' had no entry when the run began"),
    ],
)
def test_a_run_does_not_resume_with_other_entries(
    prepared: Path, folder: str, text: str, fault: str
) -> None:
    file = prepared / "submissions" / folder / "bot.toml"
    before = file.read_text()
    file.write_text(text)
    try:
        done = asara(
            "tournament", "run", prepared / "cup.toml", "--out", prepared / "run", "--resume"
        )
    finally:
        file.write_text(before)
    assert done.returncode == 2
    assert fault in done.stderr


# Bundles


def test_a_bundle_holds_replays_logs_and_results_of_the_entry(evening: Path) -> None:
    run = evening / "run"
    files = bundle_of(run, "ann")
    own = [json.loads(line) for line in files["matches.jsonl"].decode().splitlines()]
    assert len(own) == 4
    replays = sorted(f"replays/{result['match_id']}.asara" for result in own)
    logs = sorted(name for name in files if name.startswith("logs/"))
    assert sorted(name for name in files if name.startswith("replays/")) == replays
    assert [name.rpartition("-")[2] for name in logs] == ["ann.log"] * 4
    signed = [
        f"{name}{end}" for name in ("manifest.json", "tree_head.json") for end in ("", ".sig")
    ]
    for name in (*replays, *logs, *signed, "referee.pub"):
        assert files[name] == (run / name).read_bytes()
    assert files["README.txt"].startswith(b"Evening: ann\nRun finished 20")
    assert "logs/build-cid.log" in bundle_of(run, "cid")


def test_a_bundle_holds_nothing_that_others_printed(evening: Path) -> None:
    run = evening / "run"
    assert "the secret of bob" in (run / "results.jsonl").read_text()
    assert "the secret of cid" in (run / "logs" / "build-cid.log").read_text()
    for entry in ("ann", "bob", "cid"):
        whole = b"".join(bundle_of(run, entry).values()).decode(errors="replace")
        assert {name for name in BOTS if f"the secret of {name}" in whole} == {entry}


def test_the_text_of_a_bundle_tells_place_and_forfeits(evening: Path) -> None:
    text = bundle_of(evening / "run", "bob")["README.txt"].decode()
    assert "Result: place " in text
    assert "never started: exited with status 3; it printed: the secret of bob\n" in text
    assert "Forfeits: 4\n" in text
    assert max(map(len, text.splitlines())) < 280


def test_an_author_proves_with_his_bundle_that_a_match_belongs_to_the_run(
    evening: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = bundle_of(evening / "run", "ann")
    readme = files["README.txt"].decode()
    manifest = sha256(files["manifest.json"]).hexdigest()
    command = f"audit replays/*.asara --inclusion --manifest {manifest}"
    assert f"  asara {command}\n" in readme
    with zipfile.ZipFile(evening / "run" / "bundles" / "ann.zip") as archive:
        archive.extractall(tmp_path)
    monkeypatch.chdir(tmp_path / "ann")
    words = ("--inclusion", "--manifest", manifest)
    proven = [f"replays/{path.stem}.asara" for path in Path("proofs").iterdir()]
    done = asara("audit", *proven, *words, status=0)
    assert f"Audited {len(proven)} replays: {len(proven)} passed, 0 failed." in done.stdout
    replays = " ".join(map(str, Path("replays").iterdir()))
    done = asara(*command.replace("replays/*.asara", replays).split(), status=3)
    assert f"passed, 0 failed; {4 - len(proven)} without a proof." in done.stdout
    asara("audit", proven[0], "--inclusion", "--manifest", "0" * 64, status=1)


def test_a_proof_that_would_show_what_another_bot_printed_is_in_no_bundle(evening: Path) -> None:
    results = (evening / "run" / "results.jsonl").read_text().splitlines()
    of_bob = {one["match_id"] for one in map(json.loads, results) if "secret of bob" in str(one)}
    for entry in ("ann", "cid"):
        files = bundle_of(evening / "run", entry)
        named = files["README.txt"].decode().partition("No proof is here of these matches")[2]
        met_bob = [name for name in of_bob if f"replays/{name}.asara" in files]
        assert met_bob
        for name in met_bob:
            assert f"  {name}\n" in named
            assert f"proofs/{name}.proof" not in files
    bundle = bundle_of(evening / "run", "bob")
    assert of_bob <= {name[7:-6] for name in bundle if name.startswith("proofs/")}


def test_bundles_are_private_and_the_same_if_they_are_written_again(evening: Path) -> None:
    folder = evening / "run" / "bundles"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert asara("bundle", evening / "run").returncode == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert folder.stat().st_mode & 0o777 == 0o700


def test_what_bots_know_of_a_run_that_goes_on_is_in_no_bundle(
    prepared: Path, tmp_path: Path
) -> None:
    running = write_run(tmp_path / "running", [], state="running", tournament_secret=None)
    for run in (prepared / "run", running):
        assert "has not ended, and its deals are secret until" in refusal("bundle", run)
        assert not (run / "bundles").exists()
    shown, hidden = (
        match("r1-basic-0001", seat("ann", 1), seat("bob", 2)),
        match("r1-basic-0002", seat("ann", 1), seat("bob", 2, "crashed", printed=("a hand",))),
    )
    run = write_run(tmp_path / "run", [shown, hidden], state="cut short", tournament_secret=None)
    for result in (shown, hidden):
        (run / "logs" / result.match_id).mkdir(parents=True)
        (run / "logs" / result.match_id / "0-ann.log").write_text("my hand")
        (run / "logs" / result.match_id / "1-bob.log").write_text("my hand")
    (run / "replays" / f"{shown.match_id}.asara").write_bytes(b"a replay")
    done = asara("bundle", run)
    assert "skipped, because they have no replay: r1-basic-0002\n" in done.stderr
    assert sorted(bundle_of(run, "ann")) == [
        "README.txt",
        "logs/r1-basic-0001/0-ann.log",
        "matches.jsonl",
        "replays/r1-basic-0001.asara",
    ]
    assert b"a hand" not in bundle_of(run, "ann")["matches.jsonl"]


def test_a_link_in_the_logs_is_not_followed(tmp_path: Path) -> None:
    played = match("r1-basic-0001", seat("ann", 1), seat("bob", 2))
    run = write_run(tmp_path / "run", [played])
    (tmp_path / "secret").write_text("the seed")
    (run / "logs" / "r1-basic-0001").mkdir(parents=True)
    (run / "logs" / "r1-basic-0001" / "0-ann.log").symlink_to(tmp_path / "secret")
    asara("bundle", run)
    assert "logs/r1-basic-0001/0-ann.log" not in bundle_of(run, "ann")


@pytest.mark.parametrize(
    ("name", "entry"), [("../../r1", "ann"), ("r1-basic-0001", "../ann"), ("r1/x", "ann")]
)
def test_names_of_a_foreign_run_lead_nowhere(tmp_path: Path, name: str, entry: str) -> None:
    played = match(name, seat(entry, 1), seat("bob", 2))
    run = write_run(tmp_path / "run", [played], entries=(entry, "bob"))
    done = asara("bundle", run, status=2)
    assert "cannot name a bundle" in done.stderr or "is not the name of a match" in done.stderr
    assert not (run / "bundles").exists()
