"""Every block of code in the documents has a known fate, and commands work as printed.

A block is run or compiled by the test that `TESTED_BY` lists. Commands are run here, in an empty
folder, except for those in `NOT_RUN`.
"""

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from asara_server.tournament.config.entry_folders import BotFile
from asara_server.tournament.config.tournament_file import Entry
from tests.docs.desk import NOT_RUN, Desk, reason
from tests.docs.documents import DOCUMENTS, ROOT, Block, blocks, read

TESTED_BY: Final = {
    ("README.md", "python"): "tests/docs/test_readme.py",
    ("README.md", "go"): "tests/docs/test_readme.py",
    ("clients/bridge/README.md", "perl"): "tests/contract/client/test_bridge_readme.py",
    ("clients/cpp/README.md", "cpp"): "tests/languages/test_package_cpp.py",
    ("clients/cpp/README.md", "cmake"): "tests/languages/test_package_cpp.py",
    ("clients/debugging.md", "python"): "tests/cli/bots/test_debugging.py",
    ("clients/go/README.md", "go"): "tests/languages/test_package_go.py",
    ("clients/improving.md", "python"): "tests/search/test_looking_ahead.py",
    ("clients/java/README.md", "java"): "tests/languages/test_package_java.py",
    ("clients/python/README.md", "python"): "tests/contract/client/test_process.py",
    ("clients/python/looking-ahead.md", "python"): "tests/search/test_looking_ahead.py",
    ("clients/rust/README.md", "rust,no_run"): "clients/rust/src/lib.rs",
    ("clients/sidecar.md", "perl"): "tests/search/test_sidecar_page.py",
    ("clients/typescript/README.md", "ts"): "tests/languages/test_package_typescript.py",
    ("proto/README.md", "python"): "tests/conformance/test_smallest_client.py",
    ("server/asara_env/README.md", "python"): "tests/docs/test_readme.py",
    ("server/asara_game/README.md", "python"): "tests/docs/test_readme.py",
    ("server/asara_server/network/README.md", "haproxy"): "tests/network/test_siege.py",
}
"""Files that run or compile all blocks of a document in a language."""

TESTED_HERE: Final = {"json", "python", "sh", "text", "toml"}
"""Languages whose blocks are tested in any document, by this file or, if TOML, `test_readme.py`."""


def every(*languages: str) -> Iterator[tuple[str, Block]]:
    return ((document, block) for document in DOCUMENTS for block in blocks(document, *languages))


def test_every_block_has_a_fate() -> None:
    kinds = {(document, block.language) for document, block in every()}
    unknown = {kind for kind in kinds if kind not in TESTED_BY and kind[1] not in TESTED_HERE}
    assert unknown == set(), "add a test, and its file to TESTED_BY"
    assert set(TESTED_BY) <= kinds, (
        "these documents have no such blocks: remove them from TESTED_BY"
    )


@pytest.mark.parametrize("kind", TESTED_BY, ids=str)
def test_the_files_that_test_blocks_read_them(kind: tuple[str, str]) -> None:
    document, _ = kind
    text = read(TESTED_BY[kind])
    assert document in text or "README.md" in text


def test_parts_of_files_are_valid() -> None:
    """A part of a TOML file may be marked as text; whole tournament files are not."""
    for document, block in every("text"):
        try:
            data = tomllib.loads(block.content)
        except tomllib.TOMLDecodeError:
            continue
        if "command" in data:
            BotFile.model_validate(data, context={"folder": ROOT})
            continue
        assert set(data) == {"entries"}, f"{document}: mark as toml\n{block.content}"
        assert all(set(entry) <= set(Entry.model_fields) for entry in data["entries"])


def test_json_can_be_read() -> None:
    for _, block in every("json"):
        json.loads(block.content)


def test_programs_in_python_compile_and_import_what_exists() -> None:
    for document, block in every("python"):
        program = ast.parse(block.content, document)
        program.body = [
            node for node in program.body if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        exec(compile(program, document, "exec"), {})


# Commands


def lines_of(block: Block) -> list[str]:
    """Return the commands of a block, one line each; a program in a block is one command."""
    if block.content.startswith("#!"):
        return [block.content]
    lines = block.content.replace("\\\n", "").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def test_every_reason_is_needed() -> None:
    commands = [line for _, block in every("sh") for line in lines_of(block)]
    unused = [begin for begin in NOT_RUN if not any(re.match(begin, line) for line in commands)]
    assert unused == []


PAGES = [
    document
    for document in DOCUMENTS
    if any(reason(line) is None for block in blocks(document, "sh") for line in lines_of(block))
]


@pytest.mark.long
@pytest.mark.parametrize("document", PAGES)
def test_commands_work_as_written_in_an_empty_folder(document: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, document)
    for block in blocks(document, "sh", "toml"):
        if block.language == "toml" and "\nseats" in block.content:
            desk.tournament = block.content
        elif block.language == "sh":
            for line in lines_of(block):
                if reason(line) is None:
                    desk.run(line)
