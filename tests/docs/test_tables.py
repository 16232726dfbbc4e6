"""Tables of keys, fields, commands, metrics and limits match the code."""

import re

import pytest
from pydantic import TypeAdapter

from asara.v1.event_pb2 import Termination
from asara.v1.play_pb2 import Clocks as ClocksMessage
from asara.v1.play_pb2 import Limits as LimitsMessage
from asara.v1.play_pb2 import RejectionReason
from asara.v1.vocabulary_pb2 import Action
from asara_codec.clocks import Clocks
from asara_game import RULE_COMBINATIONS, format_rule_sets
from asara_game.vocabulary import DecisionKind
from asara_server.cli.lazy_group import GROUPS
from asara_server.network.metrics import program_metrics, watch
from asara_server.network.unread_bytes import CHECK_INTERVAL_S, CHECKS
from asara_server.referee.limits import LimitSettings
from asara_server.referee.referee import Referee
from asara_server.referee.stream_errors import VIOLATIONS, ErrorKind
from asara_server.tournament.config.entry_folders import BotFile, built_in_bots
from asara_server.tournament.config.tournament_file import Limits
from asara_server.tournament.run.directory import RUN_FILES, RUN_FOLDERS, RemoteEntry, RemoteInfo
from asara_server.tournament.run.run_record import RunInfo
from asara_server.tournament.standings.duel import DuelReport
from asara_server.tournament.standings.match_result import MatchResult, SeatOutcome
from asara_server.tournament.standings.model import (
    DealShareRow,
    LadderRow,
    MatchCounts,
    PairingRow,
    SeatScore,
    Standings,
    StandingsRow,
)
from tests.cli.command import all_commands, leaf_commands
from tests.docs.documents import DOCUMENTS, code_words, first_words, own_files, prose, read, table

PROTOCOL = "proto/README.md"
RULES = "server/asara_game/README.md"
COMMAND_LINE = "server/asara_server/cli/README.md"
NETWORK = "server/asara_server/network/README.md"
TOURNAMENT = "server/asara_server/tournament/README.md"
RUN = "server/asara_server/tournament/run/README.md"
STANDINGS = "server/asara_server/tournament/standings/README.md"
DUEL = "server/asara_server/tournament/standings/duel.md"

# The tournament file and the files of a run


def test_keys_of_a_bot_file():
    documented = [code_words(row[0])[0] for row in table(TOURNAMENT, "key of `bot.toml`")]
    assert documented == list(BotFile.model_fields)


@pytest.mark.parametrize("document", [TOURNAMENT, RULES])
def test_combinations_of_rule_sets(document):
    assert {format_rule_sets(rules) for rules in RULE_COMBINATIONS} <= set(
        code_words(prose(document))
    )


def test_files_of_a_run():
    folders = {f"{folder}/" for folder in RUN_FOLDERS}
    assert first_words(RUN, "in DIR") == {*RUN_FILES, *folders}


@pytest.mark.parametrize(
    ("document", "model"),
    [
        (RUN, RunInfo),
        (RUN, RemoteInfo),
        (RUN, RemoteEntry),
        (RUN, MatchResult),
        (RUN, SeatOutcome),
        (STANDINGS, Standings),
        (STANDINGS, MatchCounts),
        (STANDINGS, StandingsRow),
        (STANDINGS, PairingRow),
        (STANDINGS, LadderRow),
        (STANDINGS, DealShareRow),
        (STANDINGS, SeatScore),
        (DUEL, DuelReport),
    ],
)
def test_fields_of_the_files_of_a_run(document, model):
    fields = TypeAdapter(model).json_schema()["properties"]
    assert set(fields) <= set(code_words(prose(document)))


def test_metrics_and_their_labels():
    referee = Referee()
    referee.start_counting().forfeits.labels("ann", "crash")
    metrics = program_metrics()
    watch(metrics, referee)
    found = {
        f"{family.name}_total" if family.type == "counter" else family.name: {
            label for sample in family.samples for label in sample.labels if label != "le"
        }
        for family in metrics.collect()
    }
    rows = table(NETWORK, "metric")
    assert {row[0].strip("`"): set(code_words(row[1])) for row in rows} == found


# The command line and the bots


def test_every_command_is_documented():
    rows = table(COMMAND_LINE, "for")
    documented = [text for row in rows for text in code_words(row[1])]
    for path in leaf_commands():
        assert any(f"{text} ".startswith(f"asara {path} ") for text in documented), path


@pytest.mark.parametrize("document", DOCUMENTS)
def test_options_of_commands_exist(document):
    names = "|".join(name for group in GROUPS.values() for name in group)
    for line in re.findall(rf"\basara (?:{names})\b[^`\n]*", read(document)):
        words = line.split("'")[0].partition(" -- ")[0].split()
        paths = [path for path in all_commands() if f"{line} ".startswith(f"asara {path} ")]
        if not paths:  # `asara web.`, or another word that is no command
            continue
        params = all_commands()[max(paths, key=len)].params
        known = {one for param in params for one in (*param.opts, *param.secondary_opts)}
        named = {word.strip("[]") for word in words if word.strip("[]").startswith("--")}
        assert named <= known | {"--help"}, line


def test_bundled_bots():
    names = {row[0].removeprefix("[").partition("]")[0] for row in table("bots/README.md", "bot")}
    assert names
    assert names <= set(built_in_bots())  # a reader's own may lie beside them


# The protocol


def test_decisions_and_their_answers():
    rows = table(PROTOCOL, "`DecisionKind`")
    assert [row[0] for row in rows] == [f"`{kind.name}`" for kind in DecisionKind]
    answers = {word for row in rows for word in code_words(row[2])}
    assert answers == set(Action.DESCRIPTOR.fields_by_name)


def test_reasons_of_rejections():
    words = {name.removeprefix("REJECTION_REASON_") for name, _ in RejectionReason.items()}
    assert first_words(PROTOCOL, "`RejectionReason`") == words - {"UNSPECIFIED"}


def test_kinds_of_forfeits():
    words = {name.removeprefix("TERMINATION_") for name, _ in Termination.items()}
    assert {row[0].strip("`") for row in table(PROTOCOL, "`Termination`")} == words - {
        "UNSPECIFIED",
        "COMPLETED",
    }


def test_errors():
    documented = {
        (row[0].strip("`"), row[1].strip("`"), row[3] == "yes") for row in table(PROTOCOL, "status")
    }
    assert documented == {(kind.code.name, kind.reason, kind in VIOLATIONS) for kind in ErrorKind}


def test_clocks():
    clocks = Clocks()
    assert {row[0].strip("`"): row[1] for row in table(PROTOCOL, "`Clocks`")} == {
        name: f"{getattr(clocks, name) / 1_000_000:g} s"
        for name in ClocksMessage.DESCRIPTOR.fields_by_name
    }


def test_limits():
    limits = LimitSettings()
    told = limits.message(limits.matches)
    documented = {row[0].strip("`"): row[1] for row in table(PROTOCOL, "limit")}
    for name in LimitsMessage.DESCRIPTOR.fields_by_name:
        assert documented[name] == f"{getattr(told, name):,}"
    assert documented["unread bytes"] == f"{limits.unread_bytes >> 20} MiB"
    assert documented["first request"] == f"{limits.hello_s:g} s"
    assert documented["streams without Hello"] == str(limits.streams_without_hello)
    assert documented["streams opened"] == str(limits.streams_opened)
    assert documented["streams per connection"] == str(limits.streams_per_connection)
    assert documented["connections of a bot"] == str(limits.bot_connections)
    assert documented["connections without Hello"] == str(limits.unknown_connections)
    assert documented["streams without Hello on a connection"] == str(limits.unknown_streams)
    assert documented["bytes before Hello"] == f"{limits.unknown_bytes >> 10} KiB"
    assert documented["new connections"] == str(limits.handshakes_per_second)
    text = read(PROTOCOL)
    for sentence in (
        f"within {limits.stream_window_s:g} s",
        f"{limits.transport_bytes >> 20} MiB. At every other address",
        f"without pause for {CHECK_INTERVAL_S * CHECKS:g} s",
    ):
        assert sentence in text.replace("\n", " ")


def test_sizes_are_powers_of_1024_and_have_their_names():
    """The keys that end in `_mib` count MiB, so no text may call them anything else."""
    wrong = re.compile(r"\b(?:KB|MB|(?<!en-)GB|megabytes?)\b")
    folders = ("server", "clients", "proto", "bots")
    kinds = ("py", "md", "go", "ts", "rs", "java", "h", "cpp", "proto", "html")
    sources = own_files(*(f"{folder}/*.{kind}" for folder in folders for kind in kinds))
    assert len(sources) > 100
    found = [source for source in sources if wrong.search(read(source))]
    assert found == []
    for key in ("memory_mib", "disk_mib", "directory_mib", "build_memory_mib", "build_mib"):
        assert "MiB" in str(Limits.model_fields[key].description)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_table_has_a_head(document: str) -> None:
    """A row after an empty line is no table: browsers show its bars."""
    for rows in re.findall(r"(?:^\|.*\n)+", prose(document), re.MULTILINE):
        assert re.fullmatch(r"[|: -]+", [*rows.splitlines(), ""][1]), rows
