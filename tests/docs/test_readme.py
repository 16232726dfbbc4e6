"""The documents can be followed: links resolve, and examples work as printed."""

import contextlib
import io
import re
import tomllib
from itertools import pairwise

import pytest

from asara_game import parse_action
from asara_game.vocabulary import DecisionKind
from asara_server.tournament.config.token_store import new_token
from asara_server.tournament.config.tournament_file import check_tournament
from tests.cli.command import asara
from tests.docs.documents import (
    DOCUMENTS,
    FOLDERS,
    ROOT,
    blocks,
    code_words,
    own_files,
    prose,
    read,
    table,
)

ENGINE = "server/asara_game/README.md"
ENVIRONMENTS = "server/asara_env/README.md"
SERVER = "server/README.md"
SANDBOX = "server/asara_server/tournament/sandbox/README.md"
PARENTS = ("submissions", "class", "ladder")


def anchors(document: str) -> set[str]:
    """Return the anchors of the headings, as GitHub generates them."""
    headings = re.findall(r"^#+ (.+)$", prose(document), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(document: str) -> list[str]:
    targets = re.findall(r"\]\(([^)\s]+)\)", prose(document))
    return [target for target in targets if not target.startswith("https://")]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document):
    broken = []
    for target in links(document):
        file, _, anchor = target.partition("#")
        path = ((ROOT / document).parent / file).resolve() if file else ROOT / document
        if not path.exists() or (anchor and anchor not in anchors(str(path.relative_to(ROOT)))):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_paths_in_the_text_exist(document):
    paths = [
        word
        for word in code_words(prose(document))
        if re.fullmatch(rf"({'|'.join(FOLDERS)})/[\w./-]+", word)
    ]
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_first_document_leads_to_the_others():
    for folder in (*FOLDERS, "server/asara_game"):
        assert f"{folder}/README.md" in links("README.md")


def test_the_index_of_the_server_leads_to_every_page_beside_the_code():
    folder = (ROOT / SERVER).parent
    pages = {str(page.relative_to(folder)) for page in folder.rglob("*.md")} - {"README.md"}
    assert pages <= {target.partition("#")[0] for target in links(SERVER)}


def test_tests_named_in_a_command_exist():
    names = {name for page in DOCUMENTS for name in re.findall(r"-k (test_\w+)", read(page))}
    assert names
    assert names <= {file.stem for file in (ROOT / "tests").rglob("test_*.py")}


def test_tests_that_hold_a_promise_exist():
    names = {name for row in table(SANDBOX, "promise") for name in code_words(row[1])}
    tests = "".join(map(read, own_files("tests/tournament/*.py")))
    assert names
    assert names <= set(re.findall(r"^(?:async )?def (test_\w+)\(", tests, re.MULTILINE))


def test_folders_of_tests_are_listed():
    listed = {row[0].strip("`/") for row in table("tests/README.md", "folder")}
    assert listed == {path.split("/")[1] for path in own_files("tests/*/*")}


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(block.content, id=f"{document}-{number}")
        for document in DOCUMENTS
        for number, block in enumerate(blocks(document, "toml"))
    ],
)
def test_tournament_files_are_accepted(example, tmp_path):
    (tmp_path / "bots").symlink_to(ROOT / "bots")
    data = tomllib.loads(example)
    number = 200 if "entries_from" in data else 0  # as many folders as the largest example has
    for folder in ("my-bot", *(f"{parent}/bot-{n}" for n in range(number) for parent in PARENTS)):
        (tmp_path / folder).mkdir(parents=True)  # as `asara new` makes it
        (tmp_path / folder / "bot.toml").write_text('command = "python main.py"\n')
        (tmp_path / folder / "main.py").touch()
    (tmp_path / "my_bot.py").touch()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/my-bot").touch(mode=0o755)  # what a reader builds
    for file in ("cert.pem", "key.pem"):
        (tmp_path / file).touch()
    new_token(tmp_path / "tokens.json", "far")
    if data.keys() == {"entries"}:  # a part of a file
        data |= {"title": "Example", "seats": 2, "rules": "basic"}
        data["entries"] += [{"name": f"other-{number}", "command": "env"} for number in (1, 2)]
    assert check_tournament(data, name="example", base=tmp_path).entries


@pytest.mark.parametrize(
    ("document", "example", "output"),
    [
        pytest.param(document, block.content, following.content, id=f"{document}-{number}")
        for document in (ENGINE, ENVIRONMENTS)
        for number, (block, following) in enumerate(pairwise(blocks(document, "python", "text")))
        if block.language == "python"
    ],
)
def test_examples_print_what_they_say(document, example, output):
    if "pyspiel" in example:
        pytest.importorskip("pyspiel")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, document, "exec"), {})
    assert printed.getvalue() == output


def test_the_first_bot_in_python_plays(tmp_path):
    (bot,) = blocks("README.md", "python")
    (tmp_path / "my_bot.py").write_text(bot.content)
    ended = asara("match", "my_bot.py", "random", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "my_bot" in ended.stdout
    assert "forfeits" not in ended.stderr


def test_the_first_bot_in_go_is_the_bundled_one():
    (bot,) = blocks("README.md", "go")
    assert bot.content in read("bots/go-random/main.go")


def test_actions_in_the_rules_can_be_read():
    examples = {row[0]: code_words(row[1]) for row in table(ENGINE, "decision")}
    assert set(code_words(" ".join(examples))) == set(DecisionKind.__members__)
    for texts in examples.values():
        assert [str(parse_action(text)) for text in texts] == texts


def test_every_ruling_has_a_test_of_its_number():
    numbers = [row[0] for row in table(ENGINE, "no.")]
    assert numbers == [f"R{number}" for number in range(1, 22)]
    tests = "".join(file.read_text("utf-8") for file in (ROOT / "tests/game").glob("test_*.py"))
    missing = [n for n in numbers if not re.search(rf"\bdef test_r{int(n[1:]):02}_", tests)]
    assert missing == []
