from pathlib import Path

import pytest

from asara_game.vocabulary import RuleSet
from asara_server import bundled
from asara_server.system import usable_cores
from asara_server.tournament.config.tournament_file import ConfigError, load_tournament
from tests.tournament.sample_bots import SEED, load_text, refusal_of
from tests.tournament.tables import pairs_of

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
    assert (tournament.title, tournament.seats, tournament.jobs) == ("cup", (2,), usable_cores())
    assert tournament.rules == (frozenset({RuleSet.BASIC}),)
    assert (tournament.blocks, tournament.orders) == ("mirrored", "rotations")
    first, second = tournament.entries
    assert (first.name, second.name) == ("first", "second")
    assert (first.command, first.directory) == (("python", "bot.py"), folder)


def test_a_built_in_bot_is_entered_by_its_name(folder: Path) -> None:
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
    assert (tournament.clocks.time_bank_s, tournament.clocks.increment_s) == (5, 0.5)
    assert tournament.limits.output_bytes == 5000
    first = tournament.entries[0]
    assert first.directory == folder / "bots"
    assert first.environment == {"LEVEL": "3", "MOOD": "bold", "ASARA_TRANSCRIPT": "kept"}


ABOVE_ENTRIES = r"""
round = 3
    round: unknown setting; did you mean 'rounds'?
memory_mb = 3
    memory_mb: unknown setting; did you mean 'memory_mib' below the line [limits]?
command = 'a'
    command: unknown setting here; it belongs below the line [[entries]]
[clocks]
time_bank_s = 5
rounds = 2
    clocks.rounds: is a key of the whole file, and belongs to [clocks] because it is written below
    that line; move it above the first line in brackets
[clocks]
blitz = 3
    clocks.blitz: unknown setting; the settings here are start_up_s, time_bank_s, increment_s,
    grace_s, reconnect_s, hide_forced
seats = 3
    is not valid TOML: the key seats in line 3 has a value already, in the same table; leave out one
[[entries]]
bot = "gredy"
    entry 1 'gredy': bot: there is no built-in bot 'gredy'; did you mean 'greedy'?
[[entries]]
bot = "rust-random"
    entry 1 'rust-random': bot: rust-random must be built; enter a copy made with `asara new`
rounds = "three"
    rounds: must be a whole number, without quotes, not 'three'
blocks = "mirorred"
    blocks: must be 'mirrored', 'independent' or 'duplicate', not 'mirorred'
ponder = "no"
    ponder: must be true or false, without quotes, not 'no'
blocks_per_entry = 0
    blocks_per_entry: must be at least 1, not 0
blocks_per_entry = 30
rounds = 2
    rounds: cannot be combined with blocks_per_entry; remove one of them
until = "ranks settled"
    until: needs rounds or blocks_per_entry, which limit how much is played
places = 1
    places: needs until; add until, or remove places
rounds = 30
until = "ranks settled"
places = 3
    places: must be at most 2, the number of entries
deals = "joint"
    deals: a joint deal cannot be shared by several matches, because the nonces of each match change
    the deal; set blocks to 'independent'
[clocks]
time_bank_s = -1
    clocks.time_bank_s: must be greater than 0, not -1
[limits]
suspend_share = 2
processes = 0
memory_mib = 1.5
    limits.suspend_share: must be at most 1, not 2
    | cup.toml: limits.memory_mib: must be a whole number, not 1.5
    | cup.toml: limits.processes: must be at least 4, not 0
clocks = 3
    clocks: must be a table of keys and values, not 3
title = [1979-05-27, true, { a = 07:32:00 }]
    title: must be a text in quotes, not [1979-05-27, true, { a = 07:32:00 }]
"""
"""Lines above the entries, and why the file is refused."""

IN_THE_SECOND_ENTRY = r"""
bot = "greedy"
    command: leave it out, or leave out bot, which starts a built-in bot
directory = "nowhere"
    directory: 'DIR/nowhere' does not exist
environment = { "A;reboot" = "x" }
    environment: 'A;reboot' cannot be an environment variable
environment = { ASARA_TOKEN = "x" }
    environment: 'ASARA_TOKEN' is set by the runner; choose a name without ASARA_
build = "make"
    build: works in a copy of the entry's folder, which holds the tournament file; give the entry a
    folder of its own
directory = "bots"
build = "./make.sh"
    build: no such file './make.sh' in DIR/bots
readable = ["nowhere"]
    readable: 'DIR/nowhere' does not exist
readable = ["~no-such-user/models"]
    readable: '~no-such-user/models' names a user who does not exist
readable = ["bots\u0000"]
    readable: 'bots\x00' cannot be a path
readable = "bots"
    readable: must be a list of paths, not 'bots'
readable = ["bots", "/"]
    readable: '/' is more than a bot may see; name only what it needs
readable = ["/proc/1"]
    readable: '/proc/1' is more than a bot may see; name only what it needs
"""
"""Lines of the second entry, and why it is refused."""

COMMANDS = """
"python bots/gredy.py"
    no such file 'bots/gredy.py' in DIR; did you mean 'bots/greedy.py'?
"python nowhere/bot.py"
    no such file 'nowhere/bot.py' in DIR
"./bot.py"
    './bot.py' is not executable; make it so with chmod +x, or put its interpreter first, such as
    'python bot.py'
"python bots"
    'bots' is a folder; write the program in it
"bot.py"
    no program 'bot.py' on PATH; for the file next to it write './bot.py'
"search --milliseconds 50"
    no program 'search' on PATH; for the built-in bot write bot = 'search --milliseconds 50'
"python -u"
    'python -u' names no script; write it after the interpreter
"python 'bot.py"
    cannot be split into words: no closing quotation
"cd src && python bot.py"
    has '&&', but no shell reads it: put the line into a file, and write 'sh FILE'
""
    is empty; write what starts the bot, such as 'python bot.py'
7
    must be a command line or a list of arguments
"""
"""Commands of the first entry, and why they are refused."""

HEADS = """
seats = 5
rules = "basic"
    seats: must be 2, 3, 4 or a list of these, not 5
seats = [2, 2]
rules = "basic"
    seats: names the number 2 twice
seats = []
rules = "basic"
    seats: is empty; name at least one
seats = [2, 4]
rules = "basic"
    seats: 4 seats need at least 4 entries, but there are only 2; add [[entries]] or play with fewer
    seats
seats = 2
rules = "genie"
    rules: rule set 'genie' needs 'pro'; write 'pro+genie'
seats = 2
rules = "proo"
    rules: unknown rule set 'proo'; the rule sets are basic, pro, gifts, genie
seats = 2
rules = ["pro+gifts", "gifts+pro"]
    rules: names the rules 'pro+gifts' twice
"""
"""What stands above the entries, and why the file is refused."""

NAMES = """
"First"
    entries: entry 1 and entry 2 are both named 'First'; give one of them another `name` here (upper
    and lower case count as the same)
"../second"
    entry 2: name: '../second' cannot be a name, because its character 1, U+002E FULL STOP, cannot
    be the first; begin with a letter or digit
"""
"""Names of the second entry, and why they are refused."""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((f"{HEAD}{lines}{TWO}", why) for lines, why in pairs_of(ABOVE_ENTRIES)),
        *(
            (f"{HEAD}{TWO}{lines}", f"entry 2 'second': {why}")
            for lines, why in pairs_of(IN_THE_SECOND_ENTRY)
        ),
        *(
            (
                HEAD + TWO.replace('"python bot.py"\n', command, 1),
                f"entry 1 'first': command: {why}",
            )
            for command, why in pairs_of(COMMANDS)
        ),
        *((HEAD + TWO.replace('"second"\n', name), why) for name, why in pairs_of(NAMES)),
        *((head + TWO, why) for head, why in pairs_of(HEADS)),
        (
            HEAD + TWO.replace("command", "comand", 1),
            "entry 1 'first': comand: unknown setting; did you mean 'command'?",
        ),
        (HEAD, "entries: is missing"),
        (HEAD.replace("rules", "ruls") + TWO, "ruls: unknown setting; did you mean 'rules'?"),
        (
            HEAD + TWO.replace("name =", "nam =", 1),
            "entry 1: nam: unknown setting; did you mean 'name'?",
        ),
        (
            HEAD + "entries = []\n",
            (
                "seats: 2 seats need at least 2 entries, but there are only 0; add [[entries]] or "
                "play with fewer seats"
            ),
        ),
        (HEAD + "entries = 3\n", "entries: must be a list, not 3"),
        ("seats = 2\nrounds = \n", "is not valid TOML: Invalid value (at line 2, column 10)"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(folder: Path, text: str, message: str) -> None:
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


@pytest.mark.parametrize(
    ("seed", "fault"),
    [
        ('"spring"', "needs 64 random hexadecimal digits"),
        ("17", "needs 64 random hexadecimal digits"),
        ("true", "needs 64 random hexadecimal digits"),
        (f'"{SEED[:63]}"', "needs 64 random hexadecimal digits"),
        (f'"{SEED[:63]}\u0663"', "needs 64 random hexadecimal digits"),
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


def test_processes_live_for_the_run_or_a_match_for_all_entries_or_one(folder: Path) -> None:
    head = HEAD
    assert load_text(folder, head + TWO).process_policies == {"first": "run", "second": "run"}
    head += 'process_per = "match"\n'
    assert load_text(folder, head + TWO).process_policies == {"first": "match", "second": "match"}
    last_runs = load_text(folder, head + TWO + 'process_per = "run"\n')
    assert last_runs.process_policies == {"first": "match", "second": "run"}


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


def test_readable_does_not_lead_through_a_link_to_more_than_a_bot_may_see(folder: Path) -> None:
    (folder / "everything").symlink_to("/")
    text = TWO.replace('name = "first"', 'name = "first"\nreadable = ["everything"]')
    assert "readable: '/' is more than a bot may see" in refusal_of(folder, HEAD + text)


def test_a_table_in_place_of_a_list_of_entries_is_named(folder: Path) -> None:
    assert refusal_of(folder, f"{HEAD}{TWO}[entries]\n") == (
        "cup.toml: is not valid TOML: [entries] in line 10 is there already; write its keys below "
        "the first, or begin each one with [[entries]] if there are several"
    )


def entries(teams: str) -> str:
    """As many entries as letters, each of which is a team; "." stands for none."""
    lines = []
    for number, team in enumerate(teams):
        lines.append(f'[[entries]]\nname = "e{number}"\ncommand = "python bot.py"\n')
        lines.append(f'team = "{team}"\n' if team != "." else "")
    return "".join(lines)


FOUR_SEATS = HEAD.replace("seats = 2", "seats = [2, 4]")


@pytest.mark.parametrize(
    ("teams", "blocks"),
    [
        ("." * 7, "mirrored"),
        ("." * 8, "duplicate"),
        ("aa" + "." * 13, "mirrored"),
        ("aA" + "." * 14, "duplicate"),
    ],
)
def test_blocks_are_duplicate_if_there_are_twice_as_many_entries_as_seats(
    folder: Path, teams: str, blocks: str
) -> None:
    assert load_text(folder, FOUR_SEATS + entries(teams)).blocks == blocks


IMPOSSIBLE = """
blocks = "duplicate"
.......
    blocks: duplicate blocks need at least 8 entries for 4 seats; there are only 7; add [[entries]],
    play with fewer seats, or set blocks to 'mirrored'
blocks = "duplicate"
aa........
    blocks: duplicate blocks need at least 16 entries for 4 seats and a team of 2 ('a'); there are
    only 10; add [[entries]], play with fewer seats, or set blocks to 'mirrored'
aabbc
    seats: 4 seats need at least 4 teams, because team-mates never sit at the same table, but there
    are only 3; add [[entries]] from other teams or play with fewer seats
blocks_per_entry = 5
aaa....
    blocks_per_entry: team 'a' has 3 of 7 entries, too many for each to play as often as the others
    at tables of 4, which have one of a team; leave out blocks_per_entry, add [[entries]] of other
    teams or play with fewer seats
tables = 6
.......
    tables: mirrored blocks are played at one table at a time; leave it out, or set blocks to
    'duplicate'
tables = 2
........
    tables: must be at least 3, not 2
blocks = "duplicate"
blocks_per_entry = 5
orders = "all"
........
    orders: a duplicate block seats its entries once, so with blocks_per_entry no group plays in all
    orders; leave out orders, or set blocks to 'mirrored'
"""
"""Lines above the entries, the teams of the entries, and why the file is refused."""


@pytest.mark.parametrize(("lines", "message"), pairs_of(IMPOSSIBLE))
def test_what_teams_and_duplicate_blocks_make_impossible_is_said(
    folder: Path, lines: str, message: str
) -> None:
    *head, teams = lines.splitlines(keepends=True)
    text = FOUR_SEATS + "".join(head) + entries(teams.strip())
    assert refusal_of(folder, text) == f"cup.toml: {message}"


def test_without_ponder_the_grace_covers_the_thawing(folder: Path) -> None:
    text = f"{HEAD}{{}}[clocks]\ngrace_s = {{}}\n{TWO}"
    assert load_text(folder, text.format("", 0)).ponder
    assert not load_text(folder, text.format("ponder = false\n", 0.01)).ponder
    assert refusal_of(folder, text.format("ponder = false\n", 0.009)) == (
        "cup.toml: clocks.grace_s: must be at least 0.01 if ponder is false, because bots are "
        "thawed in this time; set it higher, or remove ponder"
    )
