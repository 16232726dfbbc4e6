from pathlib import Path

import pytest

from asara_game.vocabulary import RuleSet
from asara_server.tournament.config import ConfigError, Tournament, cores, load_tournament

TWO = """
[[entries]]
name = "first"
command = "python bot.py"
[[entries]]
name = "second"
command = "python bot.py"
"""
HEAD = 'seats = 2\nrule_sets = "basic"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bot.py").write_text("")
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "greedy.py").write_text("")
    return tmp_path


def load(folder: Path, text: str) -> Tournament:
    path = folder / "cup.toml"
    path.write_text(text)
    return load_tournament(path)


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(folder, text)
    return str(caught.value).replace(str(folder), "DIR")


def test_a_short_file_is_filled_up_with_defaults(folder: Path) -> None:
    tournament = load(folder, HEAD + TWO)
    assert tournament.title == "cup"
    assert tournament.seats == (2,)
    assert tournament.rule_sets == (frozenset({RuleSet.BASIC}),)
    assert tournament.rounds == 1
    assert tournament.seed is None
    assert tournament.concurrency == cores()
    assert tournament.processes == "run"
    assert tournament.deals == "committed"
    assert [entry.name for entry in tournament.entries] == ["first", "second"]
    assert tournament.entries[0].command == ("python", "bot.py")
    assert tournament.entries[0].directory == folder


def test_a_full_file_is_read(folder: Path) -> None:
    tournament = load(
        folder,
        """
        title = "Cup"
        seats = [2, 3]
        rule_sets = ["basic", "pro+gifts+genie"]
        rounds = 3
        seed = 17
        concurrency = 1
        processes = "match"
        deals = "joint"
        transport = "tcp"
        [clocks]
        bank_s = 5
        [limits]
        log_bytes = 5_000
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
    assert tournament.seed == "17"
    assert tournament.deals == "joint"
    assert tournament.clocks.bank_s == 5
    assert tournament.clocks.increment_s == 0.5
    assert tournament.limits.log_bytes == 5000
    assert tournament.entries[0].directory == folder / "bots"
    assert tournament.entries[0].environment == {
        "LEVEL": "3",
        "MOOD": "bold",
        "ASARA_TRANSCRIPT": "kept",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "round = 3\n" + TWO, "cup.toml: round: unknown key; did you mean 'rounds'?"),
        (
            HEAD + TWO.replace("command", "comand", 1),
            (
                "cup.toml: entries[0].command: is missing\n"
                "cup.toml: entries[0].comand: unknown key; did you mean 'command'?"
            ),
        ),
        (
            HEAD + "[clocks]\nblitz = 3\n" + TWO,
            (
                "cup.toml: clocks.blitz: unknown key; known are "
                "start_up_s, bank_s, increment_s, grace_s, reconnect_s"
            ),
        ),
        (
            HEAD + TWO.replace("bot.py", "bots/gredy.py", 1),
            (
                "cup.toml: entries[0].command: no such file 'bots/gredy.py' in DIR; "
                "did you mean 'bots/greedy.py'?"
            ),
        ),
        (
            HEAD + TWO.replace("python bot.py", "./bot.py", 1),
            (
                "cup.toml: entries[0].command: './bot.py' is not executable; make it so with "
                "chmod +x, or put its interpreter first, such as 'python bot.py'"
            ),
        ),
        (
            HEAD + TWO.replace("python bot.py", "python bots", 1),
            "cup.toml: entries[0].command: 'bots' is a directory; name the program in it",
        ),
        (
            HEAD + TWO.replace("python bot.py", "bot.py", 1),
            (
                "cup.toml: entries[0].command: no program 'bot.py' on PATH; "
                "for the file beside it write './bot.py'"
            ),
        ),
        (
            HEAD + TWO.replace("python bot.py", "python -u", 1),
            (
                "cup.toml: entries[0].command: 'python -u' names no script; "
                "write it after the interpreter"
            ),
        ),
        (
            HEAD + TWO.replace("python bot.py", "python 'bot.py", 1),
            "cup.toml: entries[0].command: cannot be split into words: no closing quotation",
        ),
        (
            HEAD + TWO.replace('"python bot.py"', '""', 1),
            (
                "cup.toml: entries[0].command: is empty; "
                "write what starts the bot, such as 'python bot.py'"
            ),
        ),
        (
            HEAD + TWO.replace('"python bot.py"', "7", 1),
            "cup.toml: entries[0].command: should be a command line or a list of words",
        ),
        (
            HEAD + TWO + 'directory = "nowhere"\n',
            "cup.toml: entries[1].directory: 'DIR/nowhere' does not exist",
        ),
        (
            HEAD + TWO + 'environment = { ASARA_TOKEN = "x" }\n',
            (
                "cup.toml: entries[1].environment: 'ASARA_TOKEN' is set by the runner; "
                "choose a name without ASARA_"
            ),
        ),
        (
            HEAD + TWO.replace("second", "First"),
            (
                "cup.toml: entries: entries[0] and entries[1] are both named 'First'; "
                "names must differ by more than case"
            ),
        ),
        (
            HEAD + TWO.replace("second", "../second"),
            (
                "cup.toml: entries[1].name: '../second' cannot name files because of '/'; "
                "use letters, digits, . _ + -"
            ),
        ),
        (
            HEAD.replace("2", "[2, 4]") + TWO,
            (
                "cup.toml: seats: 4 seats need as many entries, and there are 2; "
                "add [[entries]] or play with fewer seats"
            ),
        ),
        (
            HEAD.replace("2", "5") + TWO,
            "cup.toml: seats: should be 2, 3, 4 or a list of these, not 5",
        ),
        (HEAD.replace("2", "[2, 2]") + TWO, "cup.toml: seats: names the number 2 twice"),
        (HEAD.replace("2", "[]") + TWO, "cup.toml: seats: is empty; name at least one"),
        (
            HEAD.replace("basic", "genie") + TWO,
            "cup.toml: rule_sets: rule set 'genie' needs 'pro': write 'pro+genie'",
        ),
        (
            HEAD.replace("basic", "proo") + TWO,
            "cup.toml: rule_sets: no rule set 'proo'; one of basic, pro, gifts, genie",
        ),
        (
            HEAD.replace('"basic"', '["pro+gifts", "gifts+pro"]') + TWO,
            "cup.toml: rule_sets: names the rules 'pro+gifts' twice",
        ),
        (
            HEAD + 'rounds = "three"\n' + TWO,
            "cup.toml: rounds: should be a valid integer, not 'three'",
        ),
        (
            HEAD + 'processes = "forever"\n' + TWO,
            "cup.toml: processes: should be 'run' or 'match', not 'forever'",
        ),
        (
            HEAD + 'deals = "secret"\n' + TWO,
            "cup.toml: deals: should be 'committed' or 'joint', not 'secret'",
        ),
        (
            HEAD + "[clocks]\nbank_s = -1\n" + TWO,
            "cup.toml: clocks.bank_s: should be greater than 0, not -1",
        ),
        (HEAD, "cup.toml: entries: is missing"),
        (HEAD + "entries = 3\n", "cup.toml: entries: should be a valid tuple, not 3"),
        (
            HEAD + 'seed = ""\n' + TWO,
            "cup.toml: seed: is empty; leave it out to have one drawn",
        ),
        (
            "seats = 2\nrounds = \n",
            "cup.toml: is not valid TOML: Invalid value (at line 2, column 10)",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(folder: Path, text: str, message: str) -> None:
    assert refusal(folder, text) == message


def test_everything_that_is_wrong_is_told_at_once(folder: Path) -> None:
    lines = refusal(folder, "seats = 7\n" + TWO + 'colour = "red"\n').splitlines()
    assert [line.split(": ")[1] for line in lines] == ["seats", "rule_sets", "entries[1].colour"]


def test_a_missing_file_a_directory_and_a_file_that_is_no_text(folder: Path) -> None:
    for path, message in (
        (folder / "no.toml", "DIR/no.toml: no such file"),
        (folder, "DIR: is a directory; name the tournament file in it"),
    ):
        with pytest.raises(ConfigError) as caught:
            load_tournament(path)
        assert str(caught.value).replace(str(folder), "DIR") == message
    (folder / "cup.toml").write_bytes(b"title = '\xff'")
    with pytest.raises(ConfigError, match=r"cup.toml: is not a text file in UTF-8"):
        load_tournament(folder / "cup.toml")
