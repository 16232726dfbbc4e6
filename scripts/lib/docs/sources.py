"""Prepares the files that Sphinx reads, in an empty folder.

    python -m scripts.lib.docs.sources FOLDER

The folder gets the documents and their pictures, with the same paths as in the checkout. It also
gets a page for every file and folder that a document links to, the references generated from code,
and the navigation. None of these files belong in the repository.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from pygments.lexers import find_lexer_class_for_filename

from scripts.lib.docs import commands, protocol, tournament_file

ROOT: Final = Path(__file__).resolve().parents[3]

NAVIGATION: Final = {
    "Start": ("README.md", "glossary.md", "*.md"),
    "Write a bot": (
        "clients/README.md",
        "clients/debugging.md",
        "clients/*",
        "clients/*/README.md",
        "bots/*",
        "server/asara_server/cli/README.md",
        "reference/commands.md",
        "server/asara_game/README.md",
    ),
    "Run a tournament": (
        "server/asara_server/tournament/README.md",
        "reference/tournament-file.md",
        "server/asara_server/tournament/*",
        "server/asara_server/web/README.md",
    ),
    "Results and audit": (
        "server/asara_server/tournament/run/README.md",
        "server/asara_server/tournament/standings/*",
        "server/asara_server/report/*",
        "server/asara_server/replay/README.md",
        "server/asara_server/replay/*",
        "server/asara_server/tournament/run/*",
    ),
    "Protocol": (
        "proto/README.md",
        "reference/protocol.md",
        "proto/*",
        "server/asara_server/conformance/*",
    ),
    "Learning and search": (
        "server/asara_env/README.md",
        "server/asara_env/*",
        "server/asara_search/*",
        "clients/python/looking-ahead.md",
        "clients/sidecar.md",
    ),
    "The house": ("server/README.md", "server/*", "clients/web/*"),
    "Contribute": (
        "CONTRIBUTING.md",
        "scripts/*",
        "tests/*",
        "tests/tournament/standings/*",
        "CHANGELOG.md",
    ),
}
"""Sections of the navigation, with patterns for their pages; the most specific pattern wins."""

REFERENCES: Final = {
    "commands": commands.page,
    "tournament-file": tournament_file.page,
    "protocol": protocol.page,
}
"""Functions that generate pages from code, by file name in `reference/`."""

_SHOWN_BYTES: Final = 64 * 1024
"""Size in bytes above which a file is offered for download instead of being shown."""

_PICTURES: Final = (".png", ".svg", ".webp")

_HIDDEN: Final = "---\norphan: true\nnosearch: true\n---\n\n"
"""Markup that keeps a page out of navigation and search."""


def prepare(folder: Path) -> None:
    """Write all files that Sphinx reads."""
    files = _files()
    documents = [file for file in files if file.endswith(".md")]
    for document in documents:
        _copy(document, folder)
        for target in _targets(document):
            path = (ROOT / document).parent.joinpath(target).resolve()
            # Sphinx reports what does not exist.
            if path.suffix != ".md" and path.is_relative_to(ROOT) and path.exists():
                _write_page_of(path.relative_to(ROOT).as_posix(), files, folder)
    for name, page in REFERENCES.items():
        document = f"reference/{name}.md"
        documents.append(document)
        _write(folder / document, page())
    with (folder / "README.md").open("a", encoding="utf-8") as start:
        start.writelines(navigation(documents))


def _files() -> list[str]:
    """Return the files of the checkout that git does not ignore."""
    command = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    listed = subprocess.check_output(command, cwd=ROOT, text=True).split("\0")
    return sorted(file for file in listed if file and (ROOT / file).is_file())


def _targets(document: str) -> set[str]:
    """Return the paths that a document links to."""
    text = (ROOT / document).read_text(encoding="utf-8")
    prose = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)
    targets = (target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", prose))
    return {target for target in targets if target and ":" not in target}


def _write_page_of(path: str, files: list[str], folder: Path) -> None:
    """Write the page that stands in for a linked file or folder, or copy the file."""
    if (ROOT / path).is_dir():
        inside = [file for file in files if file.startswith(f"{path}/")]
        if (about := f"{path}/README.md") in inside:
            inside = [about]
        for file in inside:
            if not file.endswith(".md"):
                _write_page_of(file, files, folder)
        links = "".join(f"- [{file}](/{file})\n" for file in inside)
        _write(folder / f"{path}.md", f"{_HIDDEN}# {path}\n\n{links}")
        return
    content = (ROOT / path).read_bytes()
    lexer = find_lexer_class_for_filename(path)
    if len(content) > _SHOWN_BYTES or path.endswith(_PICTURES):
        _copy(path, folder)
    elif not (ROOT / f"{path}.md").exists():
        language = lexer.aliases[0] if lexer else "text"
        text = content.decode().rstrip("\n")
        _write(folder / f"{path}.md", f"{_HIDDEN}# {path}\n\n``````{language}\n{text}\n``````\n")


def navigation(documents: list[str]) -> Iterator[str]:
    """Yield the tables of contents. Raise ValueError for a document that matches no pattern."""
    places = [
        (len(pattern.partition("*")[0]), section, number, pattern)
        for section, patterns in NAVIGATION.items()
        for number, pattern in enumerate(patterns)
    ]
    sections: dict[str, list[tuple[int, str]]] = {section: [] for section in NAVIGATION}
    for document in documents:
        _, section, number, _ = max(place for place in places if fnmatchcase(document, place[3]))
        sections[section].append((number, document))
    for section, pages in sections.items():
        yield f"\n```{{toctree}}\n:hidden:\n:caption: {section}\n\n"
        for _, document in sorted(pages):
            page = document.removesuffix(".md")
            yield "Start <self>\n" if page == "README" else f"/{page}\n"
        yield "```\n"


def _copy(path: str, folder: Path) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(ROOT / path, folder / path)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    prepare(Path(sys.argv[1]))
