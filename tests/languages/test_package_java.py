"""The Java kit in a local repository of Maven, used by a fresh project: the bots of its guide."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.docs.documents import blocks
from tests.languages.kits import KITS, execute, require

pytestmark = pytest.mark.languages

(KIT,) = (kit for kit in KITS if kit.language == "java")

POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>fresh</groupId>
  <artifactId>bots</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>asara</groupId>
      <artifactId>asara</artifactId>
      <version>0.1.0</version>
    </dependency>
  </dependencies>
</project>
"""

RESULT = re.compile(r"^ +\d +([\w-]+) +\d +\d+(.*)$", re.MULTILINE)
"""Seat, entry, rank, prestige and, if there is one, the forfeit."""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a local repository of its own that holds the kit, built from a copy."""
    require(KIT)
    folder = tmp_path_factory.mktemp("maven")
    repository = folder / "repository"
    downloaded = Path.home() / ".m2" / "repository"
    if downloaded.is_dir():  # spares the downloads
        # Another test may be downloading: what it has not finished yet will have gone.
        unfinished = ("*.part", "*.tmp", "*.lock", "*-in-progress")
        others = shutil.ignore_patterns("asara", *unfinished)
        shutil.copytree(downloaded, repository, ignore=others)
    kit = folder / "kit"
    shutil.copytree(KIT.folder, kit, ignore=shutil.ignore_patterns("target"))
    maven(repository, kit, "-DskipTests", "install")
    assert (repository / "asara/asara/0.1.0/asara-0.1.0.jar").is_file()
    return repository


def maven(repository: Path, folder: Path, *words: str) -> None:
    execute("mvn", "-q", "-B", "-ntp", f"-Dmaven.repo.local={repository}", *words, cwd=folder)


def test_the_bots_of_the_guide_play_in_a_fresh_project(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "pom.xml").write_text(POM)
    examples: list[str] = []
    for number, (_, content) in enumerate(blocks("clients/java/README.md", "java")):
        found = re.search(r"public (?:final class|record) (\w+)", content)
        assert found, content
        package = tmp_path / f"src/main/java/example{number}"
        package.mkdir(parents=True)
        (package / f"{found[1]}.java").write_text(f"package example{number};\n\n{content}")
        examples.append(f"example{number}.{found[1]}")
    libraries = ("dependency:copy-dependencies", "-DincludeScope=runtime")
    maven(repository, tmp_path, "compile", *libraries)
    bots = [name for name in examples if not name.endswith("ReadTranscript")]
    assert len(bots) == 4
    classpath = f"{tmp_path}/target/classes:{tmp_path}/target/dependency/*"
    commands = [f"java -XX:TieredStopAtLevel=1 -cp {classpath} {name}" for name in bots]
    match = [sys.executable, "-m", "asara_server.cli", "match", "--sandbox", "none"]
    options = ("--start-up", "120", "--rules", "pro+gifts")
    printed = execute(*match, *options, *commands, cwd=tmp_path)
    assert [forfeit.strip() for _, forfeit in RESULT.findall(printed)] == [""] * 4, printed
    assert "asara:" not in printed
