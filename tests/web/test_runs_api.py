"""The API about runs: what it shows, what it does not show, and damaged or changing directories."""

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from asara.v1.replay_view_pb2 import ReplayView
from asara_codec.results import Termination
from asara_server.tournament.bots.output import append_index, index_of
from asara_server.tournament.run.read_run import read_run
from asara_server.tournament.standings.match_result import SeatOutcome
from asara_server.web.app import create_app
from asara_server.web.open_run import OpenRun
from asara_server.web.responses import WebError
from asara_server.web.run_catalogue import Source, SourceKind
from asara_server.web.settings import WebSettings
from tests.report.runs import data_of, page_of, run_with_replays, write_analysis, write_run
from tests.tournament.samples import add_results, change_run, match, write_results

VIEW = "/api/runs/cup/matches/r1-basic-0001/view"
HOSTILE = "<img src=x onerror=alert(1)>\u202edrows\u2066\u0000"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs"


@pytest.fixture
def client(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    # Every request looks again.
    monkeypatch.setattr("asara_server.web.open_run._FRESH_S", 0)
    monkeypatch.setattr("asara_server.web.run_catalogue._FRESH_S", 0)
    monkeypatch.setattr("asara_server.web.open_run._REST", 0)
    monkeypatch.setattr("asara_server.web.open_run._WAIT_S", 30)
    settings = WebSettings(sources=(folder,))
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        yield client


def get(client: TestClient, path: str, status: int = 200, /, **query: str) -> Any:
    answer = client.get(f"/api/runs{path}", params=query)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_a_run_that_has_just_begun_is_found(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A player can follow the link to the replay as soon as the match is over."""
    monkeypatch.setattr("asara_server.web.run_catalogue._FRESH_S", 1e9)
    get(client, "/cup", 404)
    (folder / "cup").mkdir()
    (folder / "cup" / "r1-basic-0001-1.asara").write_bytes(b"")
    get(client, "/cup/matches")


def names(page: dict[str, Any]) -> list[str]:
    return [row["name"] for row in page["matches"]]


def seat(entry: str, rank: int, **changes: Any) -> SeatOutcome:
    fields = {"prestige": 10 - rank, "termination": Termination.COMPLETED, **changes}
    return SeatOutcome(entry=entry, rank=rank, **fields)


CRASH = {"termination": Termination.CRASH, "detail": "exited", "printed": ("my hand is 3 blue",)}


def four_matches(folder: Path, **changes: object) -> Path:
    results = [
        match("r1-basic-0001", seat("ann", 1), seat("bob", 2)),
        match("r1-basic-0002", seat("ann", 2), seat("bob", 1)),
        match("r1-basic-0003", seat("ann", 1), seat("bob", 1)),
        match("r1-basic-0004", seat("ann", 1), seat("cy", 2, **CRASH)),
    ]
    return write_run(folder, results, entries=("ann", "bob", "cy"), scheduled=6, **changes)


def test_runs_are_listed_with_their_progress(client: TestClient, folder: Path):
    four_matches(folder / "cup", title="Cup", leader="ann", leader_ranks=(1, 3))
    (folder / "notes").mkdir()
    assert get(client, "")["runs"] == [
        {
            "name": "cup",
            "kind": "run",
            "title": "Cup",
            "state": "finished",
            "started": "2026-01-01T10:00:00+00:00",
            "entries": 3,
            "over": 4,
            "scheduled": 6,
            "leader": "ann",
            "leader_ranks": [1, 3],
        }
    ]


def test_a_run_and_its_matches_are_shown_with_these_members_and_no_other(
    client: TestClient, folder: Path
):
    """A new member is shown to everybody who can open the page: it is allowed here, or nowhere."""
    printed = {"cy": ("my hand is 3 blue",)}
    out = {"cy": f"{folder}/x: exited"}
    four_matches(
        folder / "cup", out=out, build_output=printed, left_out={"dan": f"{folder}/y is missing"}
    )
    info = read_run(folder / "cup").info
    tables = get(client, "/cup/details")["tables"]
    assert {name: table["columns"] for name, table in tables.items()} == {
        "by_seat": ["entry", "seats", "seat", "matches", "score"],
        "faults": ["entry", "kind", "forfeits", "matches", "latest_match", "latest_reason"],
        "times": [
            *("entry", "matches", "replies", "median_s", "p95_s", "longest_s"),
            *("match_s", "clock_share", "highest_share"),
        ],
        "run": ["name", "value"],
        "unread": ["problem"],
    }
    assert tables["faults"]["rows"] == [["cy", "crash", 1, 1, "r1-basic-0004", "exited"]]
    assert [name for name, _ in tables["run"]["rows"]] == [
        *("title", "state", "started", "ended", "scheduled", "played", "blocks", "void"),
        *("ended_early", "sandbox", "deals", "deal_commitment", "edition", "edition_sha256"),
        *("public_key", "fingerprint", "asara", "replays_read", "replays_missing", "audit"),
    ]
    run = get(client, "/cup")
    standings = run.pop("standings")
    assert standings.keys() == {
        *("matches", "complete", "overall", "without_forfeits", "by_rules"),
        *("seat_effect", "cross_table", "ladder", "unfinished", "remote_blocks"),
        *("ended_early", "unconnected"),
    }
    assert {row["entry"]: row["faults"] for row in standings["overall"]} == {
        "ann": 0,
        "bob": 0,
        "cy": 1,
    }
    rows = [*standings["overall"], *standings["without_forfeits"], *standings["by_rules"]["basic"]]
    assert {frozenset(row) for row in rows} == {
        frozenset(
            [
                *("place", "entry", "matches", "blocks", "score", "interval_95"),
                *("first_chance", "ranks", "win_share", "prestige", "faults"),
            ]
        )
    }
    pair, rating = standings["cross_table"][0], standings["ladder"][0]
    assert pair.keys() == {"entry", "opponent", "matches", "score", "interval_95"}
    assert rating.keys() == {"entry", "matches", "rating", "interval_95"}
    assert run == {
        "name": "cup",
        "kind": "run",
        "title": info.title,
        "rules": ["basic"],
        "seats": [2],
        "entries": ["ann", "bob", "cy"],
        "running": [],
        "unreadable": 0,
        "beside_others": False,
        "state": "finished",
        "progress": {
            "scheduled": 6,
            "over": 4,
            "void": 0,
            "blocks": 4,
            "started": "2026-01-01T10:00:00+00:00",
            "ended": "2026-01-01T11:00:00+00:00",
            "last_end_ms": run["progress"]["last_end_ms"],
            "elapsed_s": 3600.0,
            "pace": {"matches": 4, "since_ms": None},
            "building": [],
            "to_build": [],
            "remote": {},
        },
        "settings": {"blocks": "mirrored", "edition": "some edition", "sandbox": "none"},
        "faults": [
            {
                "entry": "cy",
                "matches": 1,
                "kinds": {"crash": 1},
                "match": "r1-basic-0004",
                "kind": "crash",
                "why": "exited",
            }
        ],
        "excluded": [
            {"entry": "cy", "kind": "out", "why": "…/x: exited"},
            {"entry": "dan", "kind": "left_out", "why": "…/y is missing"},
        ],
    }
    assert get(client, "/cup/matches", forfeit="crash") == {
        "total": 1,
        "offset": 0,
        "matches": [
            {
                "name": "r1-basic-0004",
                "block": "",
                "round": 1,
                "rules": "basic",
                "started": "2026-01-01T10:00:00+00:00",
                "seconds": 1.0,
                "state": "waiting",
                "seats": [
                    {"entry": "ann", "rank": 1, "prestige": 9, "fault": ""},
                    {"entry": "cy", "rank": 2, "prestige": 8, "fault": "crash"},
                ],
            }
        ],
    }


def test_runs_with_one_name_are_told_apart(folder: Path):
    runs = (four_matches(folder / "a" / "cup"), four_matches(folder / "b" / "cup"))
    app = create_app(WebSettings(sources=runs))
    with TestClient(app, base_url="http://localhost") as client:
        assert {run["name"] for run in get(client, "")["runs"]} == {"cup", "cup-2"}
        assert get(client, "/cup-2")["name"] == "cup-2"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"entry": "bob"}, "123"),
        ({"entry": "bob", "result": "won"}, "2"),
        ({"entry": "bob", "result": "lost"}, "1"),
        ({"entry": "ann", "opponent": "cy"}, "4"),
        ({"entry": "cy", "opponent": "bob"}, ""),
        ({"result": "tied"}, "3"),
        ({"entry": "ann", "result": "tied"}, "3"),
        ({"forfeit": "any"}, "4"),
        ({"forfeit": "crash"}, "4"),
        ({"forfeit": "time_out"}, ""),
        ({"forfeit": "any", "entry": "ann"}, ""),
        ({"seats": "2"}, "1234"),
        ({"seats": "3"}, ""),
        ({"rules": "basic"}, "1234"),
        ({"rules": "pro"}, ""),
        ({"state": "replay"}, ""),
        ({"state": "waiting"}, "1234"),
        ({"order": "latest"}, "4321"),
        ({"order": "latest", "offset": "1", "limit": "2"}, "32"),
        ({"offset": "3"}, "4"),
        ({"offset": "99"}, ""),
        ({"entry": "nobody"}, ""),
    ],
)
def test_matches_are_filtered(
    client: TestClient, folder: Path, query: dict[str, str], expected: str
):
    four_matches(folder / "cup")
    for _ in range(2):  # the second answer comes from what was kept of the first
        assert "".join(name[-1] for name in names(get(client, "/cup/matches", **query))) == expected


@pytest.mark.parametrize(
    "query",
    [
        {"result": "won"},
        {"result": "x"},
        {"state": "x"},
        {"forfeit": "completed"},
        {"offset": "-1"},
        {"offset": "9" * 30},
        {"offset": "٣"},
        {"limit": "201"},
        {"order": "x"},
    ],
)
def test_a_filter_that_means_nothing_is_explained(
    client: TestClient, folder: Path, query: dict[str, str]
):
    four_matches(folder / "cup")
    error = get(client, "/cup/matches", 400, **query)["error"]
    assert "write" in error or "needs an entry" in error


def test_results_appear_as_the_run_goes_on(client: TestClient, folder: Path):
    run = four_matches(folder / "cup")
    results = read_run(run).results
    write_results(run, *results[:2])
    assert get(client, "/cup/matches", entry="bob")["total"] == 2
    assert get(client, "/cup")["standings"]["matches"] == 2
    add_results(run, *results[2:])
    assert get(client, "/cup/matches", entry="bob")["total"] == 3
    assert get(client, "/cup")["standings"]["matches"] == 4
    write_results(run, results[0])  # another file in its place
    assert get(client, "/cup/matches", entry="bob")["total"] == 1


def test_an_unchanged_run_is_not_sent_again_and_a_large_answer_is_compressed(
    client: TestClient, folder: Path
):
    four_matches(folder / "cup", state="finished", ended="2026-01-01T00:00:00+00:00")
    for path in ("/api/runs", "/api/runs/cup", "/api/runs/cup/matches"):
        first = client.get(path)
        again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
    answer = client.get("/api/runs/cup")
    assert answer.headers["content-encoding"] == "gzip"
    plain = client.get("/api/runs/cup", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.json() == answer.json()


def test_a_run_that_vanishes_is_named(client: TestClient, folder: Path):
    four_matches(folder / "cup")
    get(client, "/cup")
    shutil.rmtree(folder / "cup")
    for path in ("/cup", "/cup/matches", "/cup/matches/x/view"):
        assert "moved or deleted" in get(client, path, 404)["error"]
    assert get(client, "") == {"runs": []}


@pytest.mark.parametrize("content", ['{"match_id": 3}', "\x00" * 100, "[]"])
def test_damaged_results_are_named_with_their_place(client: TestClient, folder: Path, content: str):
    add_results(four_matches(folder / "cup"), content)
    answer = client.get("/api/runs/cup")
    assert answer.status_code == 503
    assert "run.journal: result 5" in answer.json()["error"]
    assert str(folder) not in answer.text


def test_hostile_names_are_shown_without_hidden_characters(client: TestClient, folder: Path):
    result = match("r1-basic-0001", seat(HOSTILE, 1), seat("bob", 2))
    write_run(folder / "cup", [result], title=HOSTILE, entries=(HOSTILE, "bob"))
    for path in ("", "/cup", "/cup/matches"):
        text = client.get(f"/api/runs{path}").text
        assert not {"\u202e", "\u2066", "\u0000"} & set(text)
        assert "\\\\u202e" in text
    (entry, _) = get(client, "/cup")["entries"]
    assert get(client, "/cup/matches", entry=entry)["total"] == 1


@pytest.mark.parametrize(
    "path",
    [
        "/..%2f..%2fetc",
        "/%2e%2e/matches",
        "/cup/matches/..%2f..%2frun.json/replay",
        "/cup/matches/%2e%2e%2freferee/replay",
        "/cup/matches/r1-basic-0001%00/replay",
        "/cup/matches/nothing/view",
        "/cup/blocks/nothing",
    ],
)
def test_no_address_leads_to_another_file(client: TestClient, folder: Path, path: str):
    four_matches(folder / "cup")
    answer = client.get(f"/api/runs{path}")
    assert answer.status_code == 404
    assert answer.json().keys() == {"error"}


def test_links_are_not_followed(client: TestClient, folder: Path, tmp_path: Path):
    outside, _ = run_with_replays(tmp_path / "outside", 1)
    run = four_matches(folder / "cup")
    (folder / "linked").symlink_to(outside)
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (run / "replays" / "r1-basic-0001.asara").symlink_to(secret)
    assert [one["name"] for one in get(client, "")["runs"]] == ["cup"]
    assert get(client, "/cup/matches", state="replay")["total"] == 0
    get(client, "/cup/matches/r1-basic-0001/replay", 404)


def test_a_replay_that_becomes_a_link_or_vanishes_is_not_read(folder: Path, tmp_path: Path):
    four_matches(folder / "cup")
    replay = folder / "cup" / "replays" / "r1-basic-0001.asara"
    replay.parent.mkdir(exist_ok=True)
    replay.write_bytes(b"replay")
    run = OpenRun(Source("cup", folder / "cup", SourceKind.RUN), ThreadPoolExecutor())
    run.refresh()
    assert run.replay_bytes("r1-basic-0001") == b"replay"
    replay.rename(tmp_path / "elsewhere")
    replay.symlink_to(tmp_path / "elsewhere")
    fault = "the replay of 'r1-basic-0001' cannot be read; it may have been deleted"
    with pytest.raises(WebError, match=fault):
        run.replay_bytes("r1-basic-0001")
    replay.unlink()
    with pytest.raises(WebError, match=fault):
        run.replay_bytes("r1-basic-0001")


def test_a_replay_that_is_not_published_is_not_shown(client: TestClient, folder: Path):
    run, _ = run_with_replays(folder / "cup", 2)
    held = run / "replays" / "r1-basic-0002.asara"
    content = held.read_bytes()
    held.unlink()
    states = [row["state"] for row in get(client, "/cup/matches")["matches"]]
    assert states == ["replay", "waiting"]
    answer = get(client, "/cup/matches/r1-basic-0002/view", 404)
    assert "when its block is over" in answer["error"]
    held.write_bytes(content)
    assert client.get("/api/runs/cup/matches/r1-basic-0002/view").status_code == 200


def test_a_replay_is_sent_as_it_is_and_as_views(client: TestClient, folder: Path):
    run, (replay, _) = run_with_replays(folder / "cup", 2)
    file = client.get("/api/runs/cup/matches/r1-basic-0001/replay")
    assert file.content == (run / "replays" / "r1-basic-0001.asara").read_bytes()
    assert file.headers["content-disposition"] == "attachment"
    for viewer in ("everybody", "seat-0", "seat-1", "open"):
        answer = client.get(f"/api/runs/cup/matches/r1-basic-0001/view?viewer={viewer}")
        assert answer.headers["content-type"] == "application/x-protobuf"
        assert ReplayView.FromString(answer.content).match_id == replay.header.match_id
    for viewer in ("seat-2", "seat-9", "all"):
        get(
            client,
            "/cup/matches/r1-basic-0001/view",
            422 if viewer == "seat-2" else 400,
            viewer=viewer,
        )


ANALYSIS = "/cup/matches/r1-basic-0001/analysis"


def test_an_analysis_is_shown_once_the_run_is_over(client: TestClient, folder: Path):
    run, _ = run_with_replays(folder / "cup", 1)
    assert get(client, ANALYSIS) == {"analysis": None, "ignored": ""}
    path = write_analysis(run, "r1-basic-0001")
    found = get(client, ANALYSIS)
    assert found["ignored"] == ""
    assert found["analysis"].keys() == {"course", "marks", "strokes", "sums"}
    assert [one["seat"] for one in found["analysis"]["sums"]] == [0, 1]
    get(client, "/cup/matches/r1-basic-0002/analysis", 404)
    change_run(run, state="running")
    assert get(client, ANALYSIS)["analysis"] is None
    change_run(run, state="finished")
    assert get(client, ANALYSIS) == found
    path.rename(folder / "elsewhere")
    path.symlink_to(folder / "elsewhere")
    assert get(client, ANALYSIS)["analysis"] is None


@pytest.mark.parametrize("logs", [True, False])
def test_what_a_bot_wrote_is_shown_to_whom_may_see_its_view(folder: Path, logs: bool):
    run, _ = run_with_replays(folder / "cup", 1)
    log = run / "logs" / "r1-basic-0001" / "0-bot 0.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"my plan\n" * 5)
    append_index(index_of(log), [(0, number) for number in range(1, 6)])
    append_index(index_of(log), [(place * 8, place + 1) for place in range(5)])
    app = create_app(WebSettings(sources=(folder,), logs=logs))
    with TestClient(app, base_url="http://localhost") as client:
        seen = {
            viewer: b"my plan" in client.get(f"{VIEW}?viewer={viewer}").content
            for viewer in ("everybody", "seat-0", "seat-1", "open")
        }
    assert seen == {"everybody": False, "seat-0": logs, "seat-1": False, "open": logs}


def test_a_damaged_and_a_forged_replay_are_refused(client: TestClient, folder: Path):
    run, _ = run_with_replays(folder / "cup", 2)
    first, second = sorted((run / "replays").iterdir())
    first.write_bytes(first.read_bytes()[:-20])
    forged = bytearray(second.read_bytes())
    forged[-100] ^= 1
    second.write_bytes(forged)
    for name in ("r1-basic-0001", "r1-basic-0002"):
        error = get(client, f"/cup/matches/{name}/view", 422)["error"]
        assert error.startswith("this replay cannot be shown: ")
        assert str(folder) not in error


def test_a_report_holds_what_the_server_sends_and_the_secrets_of_a_finished_run(
    client: TestClient, folder: Path
):
    run, _ = run_with_replays(folder / "cup", 2)
    data = data_of(page_of(run))
    sent = get(client, "/cup")
    sent = {key: sent[key] for key in data["run"]} | {"name": ""}
    sent["progress"] = {key: sent["progress"][key] for key in data["run"]["progress"]}
    assert data["run"] == sent
    tables = get(client, "/cup/details")["tables"]
    secrets = ["tournament_secret", "secret_matches", "seed", "seed_drawn"]
    facts = data["tables"]["run"]["rows"]
    assert [name for name, _ in facts if name in secrets] == secrets
    data["tables"]["run"]["rows"] = [fact for fact in facts if fact[0] not in secrets]
    assert data["tables"] == tables
    rows = get(client, "/cup/matches")["matches"]
    assert data["matches"] == [{**row, "href": f"replays/{row['name']}.asara"} for row in rows]


def test_a_folder_of_replays_is_a_run_without_a_schedule(client: TestClient, folder: Path):
    run, replays = run_with_replays(folder / "cup", 3)
    shutil.copytree(run / "replays", folder / "table")
    shutil.rmtree(run)
    (folder / "table" / "x.asara").write_bytes(b"garbage")
    found = get(client, "/table")
    assert (found["kind"], found["progress"]["over"], found["unreadable"]) == ("replays", 3, 1)
    get(client, "/table/details", 404)
    assert found["entries"]
    page = get(client, "/table/matches")
    assert names(page) == [replay.header.match_id for replay in replays]
    assert [s["rank"] for s in page["matches"][0]["seats"]] == [end.rank for end in replays[0].ends]
    assert client.get("/api/runs/table/matches/r1-basic-0001/view").status_code == 200


def test_attempts_have_names_and_matches_of_a_block_are_listed_together(
    client: TestClient, folder: Path
):
    block = "r1-basic-0001"
    reason = "the referee failed: /secret/path"
    crashed = match(f"{block}-1", seat("ann", 1), seat("cy", 2, **CRASH), block=block)
    results = [
        match(f"{block}-2", seat("cy", 1), seat("ann", 2), block=block),
        match(f"{block}-1", block=block, void=True, void_reason=reason),
        replace(crashed, attempt=2),
    ]
    write_run(folder / "cup", results, entries=("ann", "cy"), scheduled=2)
    assert [fault["match"] for fault in get(client, "/cup")["faults"]] == [f"{block}-1.2"]
    assert names(get(client, f"/cup/blocks/{block}")) == [f"{block}-1.2", f"{block}-2"]
    assert get(client, "/cup/matches")["total"] == 2
    page = get(client, "/cup/matches", state="void")
    assert names(page) == [f"{block}-1"]
    assert "secret" not in json.dumps(page)
