from pathlib import Path

import pytest

from asara_game.vocabulary import RuleSet
from asara_server import bundled
from asara_server.tournament.config.tournament_file import (
    ConfigError,
    load_tournament,
    usable_cores,
)
from asara_server.tournament.schedule.plan import planned_matches, planned_table_kinds
from tests.tournament.sample_bots import SEED, load_text, refusal_of

TWO = """
[[entries]]
name = "first"
command = "python bot.py"
[[entries]]
name = "second"
command = "python bot.py"
"""
HEAD = 'seats = 2\nrules = "basic"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bot.py").write_text("")
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "greedy.py").write_text("")
    return tmp_path


def test_a_short_file_is_filled_up_with_defaults(folder: Path) -> None:
    tournament = load_text(folder, HEAD + TWO)
    assert tournament.title == "cup"
    assert tournament.seats == (2,)
    assert tournament.rules == (frozenset({RuleSet.BASIC}),)
    assert tournament.rounds == 1
    assert tournament.seed is None
    assert tournament.jobs == usable_cores()
    assert (tournament.blocks, tournament.orders) == ("mirrored", "rotations")
    assert tournament.blocks_per_entry is None
    assert tournament.process_policies == {"first": "run", "second": "run"}
    assert tournament.deals == "committed"
    assert [entry.name for entry in tournament.entries] == ["first", "second"]
    assert tournament.entries[0].command == ("python", "bot.py")
    assert tournament.entries[0].directory == folder


def test_a_bundled_bot_is_entered_by_its_name(folder: Path) -> None:
    text = '[[entries]]\nbot = "search --turns 2"\n[[entries]]\nname = "rival"\nbot = "greedy"\n'
    search, rival = load_text(folder, HEAD + text).entries
    assert (search.name, search.command) == ("search", ("python", "main.py", "--turns", "2"))
    assert (rival.name, rival.directory) == ("rival", bundled.path("bots", "greedy"))


def test_a_full_file_is_read(folder: Path) -> None:
    tournament = load_text(
        folder,
        """
        title = "Cup"
        seats = [2, 3]
        rules = ["basic", "pro+gifts+genie"]
        rounds = 3
        seed = "622A494D3EA8C7BA2FED4F37909F14D9B50AB412322DE39BE62C8D6C2418BFCA"
        jobs = 1
        blocks = "independent"
        orders = "all"
        process_per = "match"
        deals = "joint"
        transport = "tcp"
        [clocks]
        time_bank_s = 5
        [limits]
        output_bytes = 5_000
        [[entries]]
        name = "one"
        command = ["python", "-u", "greedy.py", "--deep"]
        directory = "bots"
        environment = { LEVEL = 3, MOOD = "bold", ASARA_TRANSCRIPT = "kept" }
        [[entries]]
        name = "two v1.2"
        command = "env python3"
        [[entries]]
        name = "three"
        command = "python -m somewhere.bot"
        """,
    )
    assert tournament.seed == "622a494d3ea8c7ba2fed4f37909f14d9b50ab412322de39be62c8d6c2418bfca"
    assert tournament.deals == "joint"
    assert tournament.clocks.time_bank_s == 5
    assert tournament.clocks.increment_s == 0.5
    assert tournament.limits.output_bytes == 5000
    assert tournament.entries[0].directory == folder / "bots"
    assert tournament.entries[0].environment == {
        "LEVEL": "3",
        "MOOD": "bold",
        "ASARA_TRANSCRIPT": "kept",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "round = 3\n" + TWO, "cup.toml: round: unknown setting; did you mean 'rounds'?"),
        (
            HEAD + "memory_mb = 3\n" + TWO,
            (
                "cup.toml: memory_mb: unknown setting; did you mean 'memory_mib' below the line "
                "[limits]?"
            ),
        ),
        (
            HEAD + "command = 'a'\n" + TWO,
            "cup.toml: command: unknown setting here; it belongs below the line [[entries]]",
        ),
        (
            HEAD + TWO.replace("command", "comand", 1),
            "cup.toml: entry 1 'first': comand: unknown setting; did you mean 'command'?",
        ),
        (
            HEAD + "[clocks]\nblitz = 3\n" + TWO,
            (
                "cup.toml: clocks.blitz: unknown setting; the settings here are "
                "start_up_s, time_bank_s, increment_s, grace_s, reconnect_s, hide_forced"
            ),
        ),
        (
            HEAD + TWO.replace("bot.py", "bots/gredy.py", 1),
            (
                "cup.toml: entry 1 'first': command: no such file 'bots/gredy.py' in DIR; "
                "did you mean 'bots/greedy.py'?"
            ),
        ),
        (
            HEAD + TWO.replace("python bot.py", "./bot.py", 1),
            (
                "cup.toml: entry 1 'first': command: './bot.py' is not executable; make it so with "
                "chmod +x, or put its interpreter first, such as 'python bot.py'"
            ),
        ),
        (
            HEAD + TWO.replace("python bot.py", "python bots", 1),
            "cup.toml: entry 1 'first': command: 'bots' is a folder; write the program in it",
        ),
        (
            HEAD + TWO.replace("python bot.py", "bot.py", 1),
            (
                "cup.toml: entry 1 'first': command: no program 'bot.py' on PATH; "
                "for the file next to it write './bot.py'"
            ),
        ),
        (
            HEAD + TWO.replace("python bot.py", "search --milliseconds 50", 1),
            (
                "cup.toml: entry 1 'first': command: no program 'search' on PATH; for the built-in "
                "bot write bot = 'search --milliseconds 50'"
            ),
        ),
        (
            HEAD + '[[entries]]\nbot = "gredy"\n' + TWO,
            (
                "cup.toml: entry 1 'gredy': bot: there is no built-in bot 'gredy'; "
                "did you mean 'greedy'?"
            ),
        ),
        (
            HEAD + '[[entries]]\nbot = "rust-random"\n' + TWO,
            (
                "cup.toml: entry 1 'rust-random': bot: rust-random must be built; "
                "enter a copy made with `asara new`"
            ),
        ),
        (
            HEAD + TWO + 'bot = "greedy"\n',
            (
                "cup.toml: entry 2 'second': command: leave it out, or leave out bot, which starts "
                "a built-in bot"
            ),
        ),
        (
            HEAD + TWO.replace("python bot.py", "python -u", 1),
            (
                "cup.toml: entry 1 'first': command: 'python -u' names no script; "
                "write it after the interpreter"
            ),
        ),
        (
            HEAD + TWO.replace("python bot.py", "python 'bot.py", 1),
            "cup.toml: entry 1 'first': command: cannot be split into words: no closing quotation",
        ),
        (
            HEAD + TWO.replace("python bot.py", "cd src && python bot.py", 1),
            (
                "cup.toml: entry 1 'first': command: has '&&', but no shell reads it: "
                "put the line into a file, and write 'sh FILE'"
            ),
        ),
        (
            HEAD + TWO.replace('"python bot.py"', '""', 1),
            (
                "cup.toml: entry 1 'first': command: is empty; "
                "write what starts the bot, such as 'python bot.py'"
            ),
        ),
        (
            HEAD + TWO.replace('"python bot.py"', "7", 1),
            "cup.toml: entry 1 'first': command: must be a command line or a list of arguments",
        ),
        (
            HEAD + TWO + 'directory = "nowhere"\n',
            "cup.toml: entry 2 'second': directory: 'DIR/nowhere' does not exist",
        ),
        (
            HEAD + TWO + 'environment = { "A;reboot" = "x" }\n',
            "cup.toml: entry 2 'second': environment: 'A;reboot' cannot be an environment variable",
        ),
        (
            HEAD + TWO + 'environment = { ASARA_TOKEN = "x" }\n',
            (
                "cup.toml: entry 2 'second': environment: 'ASARA_TOKEN' is set by the runner; "
                "choose a name without ASARA_"
            ),
        ),
        (
            HEAD + TWO.replace("second", "First"),
            (
                "cup.toml: entries: entry 1 and entry 2 are both named 'First'; "
                "rename one of them (upper and lower case count as the same)"
            ),
        ),
        (
            HEAD + TWO.replace("second", "../second"),
            (
                "cup.toml: entry 2: name: '../second' cannot be a name, because its character 1, "
                "U+002E FULL STOP, cannot be the first; begin with a letter or digit"
            ),
        ),
        (
            HEAD.replace("2", "[2, 4]") + TWO,
            (
                "cup.toml: seats: 4 seats need at least 4 entries, but there are only 2; "
                "add [[entries]] or play with fewer seats"
            ),
        ),
        (
            HEAD + "entries = []\n",
            (
                "cup.toml: seats: 2 seats need at least 2 entries, but there are only 0; "
                "add [[entries]] or play with fewer seats"
            ),
        ),
        (
            HEAD.replace("2", "5") + TWO,
            "cup.toml: seats: must be 2, 3, 4 or a list of these, not 5",
        ),
        (HEAD.replace("2", "[2, 2]") + TWO, "cup.toml: seats: names the number 2 twice"),
        (HEAD.replace("2", "[]") + TWO, "cup.toml: seats: is empty; name at least one"),
        (
            HEAD.replace("basic", "genie") + TWO,
            "cup.toml: rules: rule set 'genie' needs 'pro'; write 'pro+genie'",
        ),
        (
            HEAD.replace("basic", "proo") + TWO,
            "cup.toml: rules: unknown rule set 'proo'; the rule sets are basic, pro, gifts, genie",
        ),
        (
            HEAD.replace('"basic"', '["pro+gifts", "gifts+pro"]') + TWO,
            "cup.toml: rules: names the rules 'pro+gifts' twice",
        ),
        (
            HEAD + 'rounds = "three"\n' + TWO,
            "cup.toml: rounds: must be a whole number, without quotes, not 'three'",
        ),
        (
            HEAD + 'process_per = "forever"\n' + TWO,
            "cup.toml: process_per: must be 'match' or 'run', not 'forever'",
        ),
        (
            HEAD + 'blocks = "mirorred"\n' + TWO,
            "cup.toml: blocks: must be 'mirrored', 'independent' or 'duplicate', not 'mirorred'",
        ),
        (
            HEAD + "blocks = 30\n" + TWO,
            "cup.toml: blocks: must be 'mirrored', 'independent' or 'duplicate', not 30",
        ),
        (
            HEAD + "blocks = true\n" + TWO,
            "cup.toml: blocks: must be 'mirrored', 'independent' or 'duplicate', not true",
        ),
        (
            HEAD + 'ponder = "no"\n' + TWO,
            "cup.toml: ponder: must be true or false, without quotes, not 'no'",
        ),
        (
            HEAD + "orders = 4\n" + TWO,
            "cup.toml: orders: must be 'rotations' or 'all', not 4",
        ),
        (
            HEAD + "blocks_per_entry = 0\n" + TWO,
            "cup.toml: blocks_per_entry: must be at least 1, not 0",
        ),
        (
            HEAD + "blocks_per_entry = 2.5\n" + TWO,
            "cup.toml: blocks_per_entry: must be a whole number, not 2.5",
        ),
        (
            HEAD + "blocks_per_entry = 30\nrounds = 2\n" + TWO,
            ("cup.toml: rounds: cannot be combined with blocks_per_entry; remove one of them"),
        ),
        (
            HEAD + TWO + 'process_per = "always"\n',
            "cup.toml: entry 2 'second': process_per: must be 'match' or 'run', not 'always'",
        ),
        (
            HEAD + 'deals = "joint"\n' + TWO,
            (
                "cup.toml: deals: a joint deal cannot be shared by several matches, because "
                "the nonces of each match change the deal; set blocks to 'independent'"
            ),
        ),
        (
            HEAD + 'deals = "secret"\n' + TWO,
            "cup.toml: deals: must be 'committed' or 'joint', not 'secret'",
        ),
        (
            HEAD + "[clocks]\ntime_bank_s = -1\n" + TWO,
            "cup.toml: clocks.time_bank_s: must be greater than 0, not -1",
        ),
        (
            HEAD + "[limits]\nsuspend_share = 2\nprocesses = 0\nmemory_mib = 1.5\n" + TWO,
            (
                "cup.toml: limits.suspend_share: must be at most 1, not 2\n"
                "cup.toml: limits.memory_mib: must be a whole number, not 1.5\n"
                "cup.toml: limits.processes: must be at least 4, not 0"
            ),
        ),
        (
            HEAD + TWO + 'build = "make"\n',
            (
                "cup.toml: entry 2 'second': build: works in a copy of the entry's "
                "folder, which holds "
                "the tournament file; give the entry a folder of its own"
            ),
        ),
        (
            HEAD + TWO + 'directory = "bots"\nbuild = "./make.sh"\n',
            "cup.toml: entry 2 'second': build: no such file './make.sh' in DIR/bots",
        ),
        (
            HEAD + TWO + 'directory = "bots"\nbuild = 3\n',
            "cup.toml: entry 2 'second': build: must be a command line or a list of arguments",
        ),
        (
            HEAD + TWO + 'readable = ["nowhere"]\n',
            "cup.toml: entry 2 'second': readable: 'DIR/nowhere' does not exist",
        ),
        (
            HEAD + TWO + 'readable = ["~no-such-user/models"]\n',
            (
                "cup.toml: entry 2 'second': readable: '~no-such-user/models' names a "
                "user who does not exist"
            ),
        ),
        (
            HEAD + TWO + 'readable = ["bots\\u0000"]\n',
            "cup.toml: entry 2 'second': readable: 'bots\\x00' cannot be a path",
        ),
        (
            HEAD + TWO + 'readable = "bots"\n',
            "cup.toml: entry 2 'second': readable: must be a list of paths, not 'bots'",
        ),
        (
            HEAD + TWO + 'readable = ["bots", "/"]\n',
            (
                "cup.toml: entry 2 'second': readable: '/' is more than a bot may see; "
                "name only what it needs"
            ),
        ),
        (
            HEAD + TWO + 'readable = ["/proc/1"]\n',
            (
                "cup.toml: entry 2 'second': readable: '/proc/1' is more than a bot may see; "
                "name only what it needs"
            ),
        ),
        (HEAD, "cup.toml: entries: is missing"),
        (HEAD + "entries = 3\n", "cup.toml: entries: must be a list, not 3"),
        (
            HEAD + "clocks = 3\n" + TWO,
            "cup.toml: clocks: must be a table of keys and values, not 3",
        ),
        (HEAD + "title = 3\n" + TWO, "cup.toml: title: must be a text in quotes, not 3"),
        (
            HEAD + "title = [1979-05-27, true, { a = 07:32:00 }]\n" + TWO,
            ("cup.toml: title: must be a text in quotes, not [1979-05-27, true, { a = 07:32:00 }]"),
        ),
        (
            "seats = 2\nrounds = \n",
            "cup.toml: is not valid TOML: Invalid value (at line 2, column 10)",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(folder: Path, text: str, message: str) -> None:
    assert refusal_of(folder, text) == message


@pytest.mark.parametrize(
    ("seed", "fault"),
    [
        ('"spring"', "needs 64 random hexadecimal digits"),
        ('""', "needs 64 random hexadecimal digits"),
        ("17", "needs 64 random hexadecimal digits"),
        ("1234567890", "needs 64 random hexadecimal digits"),
        ("true", "needs 64 random hexadecimal digits"),
        (f'"{"x" * 64}"', "needs 64 random hexadecimal digits"),
        (f'"{SEED[:63]}"', "needs 64 random hexadecimal digits"),
        (f'"{SEED}0"', "needs 64 random hexadecimal digits"),
        (f'"{SEED[:63]}\u0663"', "needs 64 random hexadecimal digits"),
        (f'"{"0" * 64}"', "repeats itself"),
        (f'"{"0123456789abcdef" * 4}"', "repeats itself"),
    ],
)
def test_a_seed_that_bots_could_find_by_trying_is_refused(folder, seed, fault):
    message = refusal_of(folder, f"{HEAD}seed = {seed}\n{TWO}")
    start, new = message.rsplit(": ", 1)
    assert start == (
        f"cup.toml: seed: {fault}; bots could guess anything else. "
        "Leave it out to get a random seed for each run, or use this new one"
    )
    assert load_text(folder, f'{HEAD}seed = "{new}"\n{TWO}').seed == new, "the remedy works"
    assert refusal_of(folder, f"{HEAD}seed = {seed}\n{TWO}") != message, "drawn each time"


@pytest.mark.parametrize("blocks", ["mirrored", "independent"])
def test_processes_live_for_the_run_or_a_match_for_all_entries_or_one(
    folder: Path, blocks: str
) -> None:
    head = f'{HEAD}blocks = "{blocks}"\n'
    assert load_text(folder, head + TWO).process_policies == {"first": "run", "second": "run"}
    head += 'process_per = "match"\n'
    assert load_text(folder, head + TWO).process_policies == {"first": "match", "second": "match"}
    last_runs = load_text(folder, head + TWO + 'process_per = "run"\n')
    assert last_runs.process_policies == {"first": "match", "second": "run"}


def test_the_matches_and_their_numbers_follow_from_the_file(folder: Path) -> None:
    tournament = load_text(folder, HEAD + 'blocks_per_entry = 5\norders = "all"\n' + TWO)
    matches = planned_matches(tournament)
    assert [match.match_id for match in matches[:3]] == [
        "r1-basic-0001-1",
        "r1-basic-0001-2",
        "r1-basic-0002-1",
    ]
    assert len(matches) == 10
    assert {match.kind for match in matches} == {"mirrored"}
    assert [(kind.blocks, kind.matches) for kind in planned_table_kinds(tournament)] == [(5, 10)]


def test_a_command_that_the_build_makes_need_not_be_there_yet(folder: Path) -> None:
    built = 'name = "first"\ndirectory = "bots"\nbuild = "env make"\nreadable = ["bot.py"]'
    text = TWO.replace("python bot.py", "./made", 1).replace('name = "first"', built)
    first = load_text(folder, HEAD + text).entries[0]
    assert (first.build, first.command) == (("env", "make"), ("./made",))
    assert first.readable == (folder / "bot.py",)


def test_readable_keeps_the_path_of_a_link(folder: Path) -> None:
    (folder / "newest").symlink_to("bot.py")
    (folder / "far").symlink_to("/usr")
    text = TWO.replace('name = "first"', 'name = "first"\nreadable = ["newest", "far/../usr/bin"]')
    first = load_text(folder, HEAD + text).entries[0]
    assert first.readable == (folder / "newest", Path("/usr/bin").resolve())


def test_everything_that_is_wrong_is_told_at_once(folder: Path) -> None:
    lines = refusal_of(folder, "seats = 7\n" + TWO + 'colour = "red"\n').splitlines()
    assert [line.split(": ")[1] for line in lines] == ["seats", "rules", "entry 2 'second'"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            HEAD + "[clocks]\ntime_bank_s = 5\nrounds = 2\n" + TWO,
            (
                "clocks.rounds: is a key of the whole file, and belongs to [clocks] because it is "
                "written below that line; move it above the first line in brackets"
            ),
        ),
        (
            HEAD + TWO + "rounds = 2\n",
            (
                "entry 2 'second': rounds: is a key of the whole file, and belongs to [[entries]] "
                "because it is written below that line; move it above the first line in brackets"
            ),
        ),
        (
            HEAD + "time_bank_s = 5\n" + TWO,
            "time_bank_s: unknown setting here; it belongs below the line [clocks]",
        ),
        (
            HEAD + "[clocks]\nmemory_mib = 5\n" + TWO,
            "clocks.memory_mib: unknown setting here; it belongs below the line [limits]",
        ),
        (
            HEAD + "seats = 3\n" + TWO,
            (
                "is not valid TOML: the key seats in line 3 has a value already, in "
                "the same table; "
                "leave out one"
            ),
        ),
        (
            HEAD + TWO + "[entries]\n",
            (
                "is not valid TOML: [entries] in line 10 is there already; write its "
                "keys below the "
                "first, or begin each one with [[entries]] if there are several"
            ),
        ),
    ],
)
def test_a_key_at_the_wrong_place_or_twice_is_told_where_it_belongs(folder, text, message):
    assert refusal_of(folder, text) == f"cup.toml: {message}"


def test_a_missing_file_a_directory_and_a_file_that_is_no_text(folder: Path) -> None:
    for path, message in (
        (folder / "no.toml", "DIR/no.toml: no such file"),
        (folder, "DIR: is a folder; pass the tournament file in it"),
    ):
        with pytest.raises(ConfigError) as caught:
            load_tournament(path)
        assert str(caught.value).replace(str(folder), "DIR") == message
    (folder / "cup.toml").write_bytes(b"title = '\xff'")
    with pytest.raises(ConfigError, match=r"cup.toml: is not a text file in UTF-8"):
        load_tournament(folder / "cup.toml")


def entries(*teams: str) -> str:
    """As many entries as teams; "" for one without."""
    lines = []
    for number, team in enumerate(teams):
        lines.append(f'[[entries]]\nname = "e{number}"\ncommand = "python bot.py"\n')
        lines.append(f'team = "{team}"\n' if team else "")
    return "".join(lines)


FOUR_SEATS = HEAD.replace("seats = 2", "seats = [2, 4]")


@pytest.mark.parametrize(
    ("teams", "blocks"),
    [
        (("",) * 7, "mirrored"),
        (("",) * 8, "duplicate"),
        (("a", "a", *[""] * 13), "mirrored"),
        (("a", "A", *[""] * 14), "duplicate"),
    ],
)
def test_blocks_are_duplicate_if_there_are_twice_as_many_entries_as_seats(
    folder: Path, teams: tuple[str, ...], blocks: str
) -> None:
    assert load_text(folder, FOUR_SEATS + entries(*teams)).blocks == blocks


@pytest.mark.parametrize(
    ("head", "teams", "message"),
    [
        (
            'blocks = "duplicate"\n',
            ("",) * 7,
            (
                "blocks: duplicate blocks need at least 8 entries for 4 seats; there are only 7; "
                "add [[entries]], play with fewer seats, or set blocks to 'mirrored'"
            ),
        ),
        (
            'blocks = "duplicate"\n',
            ("a", "a", *[""] * 8),
            (
                "blocks: duplicate blocks need at least 16 entries for 4 seats and a team of 2 "
                "('a'); there are only 10; add [[entries]], play with fewer seats, or set "
                "blocks to 'mirrored'"
            ),
        ),
        (
            "",
            ("a", "a", "b", "b", "c"),
            (
                "seats: 4 seats need at least 4 teams, because team-mates never sit at the same "
                "table, but there are only 3; add [[entries]] from other teams or play with fewer "
                "seats"
            ),
        ),
        (
            "blocks_per_entry = 5\n",
            ("a", "a", "a", "", "", "", ""),
            (
                "blocks_per_entry: team 'a' has 3 of 7 entries, too many for each to play as "
                "often as the others at tables of 4, which have one of a team; leave out "
                "blocks_per_entry, add [[entries]] of other teams or play with fewer seats"
            ),
        ),
        (
            "tables = 6\n",
            ("",) * 7,
            (
                "tables: mirrored blocks are played at one table at a time; leave it out, or set "
                "blocks to 'duplicate'"
            ),
        ),
        ("tables = 2\n", ("",) * 8, "tables: must be at least 3, not 2"),
        (
            'blocks = "duplicate"\nblocks_per_entry = 5\norders = "all"\n',
            ("",) * 8,
            (
                "orders: a duplicate block seats its entries once, so with blocks_per_entry no "
                "group plays in all orders; leave out orders, or set blocks to 'mirrored'"
            ),
        ),
        (
            'blocks = "duplicate"\ndeals = "joint"\n',
            ("",) * 8,
            (
                "deals: a joint deal cannot be shared by several matches, because the nonces of "
                "each match change the deal; set blocks to 'independent'"
            ),
        ),
    ],
)
def test_what_teams_and_duplicate_blocks_make_impossible_is_said(
    folder: Path, head: str, teams: tuple[str, ...], message: str
) -> None:
    assert refusal_of(folder, FOUR_SEATS + head + entries(*teams)) == f"cup.toml: {message}"


def test_entries_of_duplicate_blocks_may_have_fresh_processes(folder: Path) -> None:
    text = HEAD + 'process_per = "match"\n' + entries("", "", "", "")
    assert (load_text(folder, text).blocks, load_text(folder, text).process_per) == (
        "duplicate",
        "match",
    )


def test_without_ponder_the_grace_covers_the_thawing(tmp_path: Path) -> None:
    entries = (
        '\n[[entries]]\nname = "a"\ncommand = "true"\n[[entries]]\nname = "b"\ncommand = "true"\n'
    )
    text = f'seats = 2\nrules = "basic"\n{{}}[clocks]\ngrace_s = {{}}\n{entries}'
    assert load_text(tmp_path, text.format("", 0)).ponder
    assert not load_text(tmp_path, text.format("ponder = false\n", 0.01)).ponder
    assert refusal_of(tmp_path, text.format("ponder = false\n", 0.009)) == (
        "cup.toml: clocks.grace_s: must be at least 0.01 if ponder is false, because bots are "
        "thawed in this time; set it higher, or remove ponder"
    )
