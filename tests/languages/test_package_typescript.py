"""The TypeScript kit is packed, and a fresh project away from the checkout uses it."""

import json
import re
import sys
import tarfile
from pathlib import Path

import pytest

from tests.languages.kits import KITS, execute, require

pytestmark = pytest.mark.languages

KIT = next(kit for kit in KITS if kit.language == "typescript")
CONFIGURATION = {
    "compilerOptions": {
        "module": "nodenext",
        "target": "es2022",
        "strict": True,
        "types": ["node"],
        "outDir": "bots",
        "rootDir": "src",
    }
}
"""Without settings for the kit; the starter's settings are tested with the starter."""


@pytest.fixture(scope="module")
def tarball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require(KIT)
    if not (KIT.folder / "node_modules").exists():
        execute("npm", "ci", cwd=KIT.folder)
    folder = tmp_path_factory.mktemp("package")
    execute("npm", "pack", "--pack-destination", folder, cwd=KIT.folder)
    (found,) = folder.glob("asara-*.tgz")
    return found


def test_the_package_has_code_types_and_sources_and_nothing_else(tarball: Path) -> None:
    with tarfile.open(tarball) as archive:
        names = set(archive.getnames())
    for module in ("index", "core", "client", "gen/play_pb"):
        assert {
            f"package/dist/{module}.js",
            f"package/dist/{module}.d.ts",
            f"package/src/{module}.ts",
        } <= names
    others = {name for name in names if not re.match(r"package/(dist|src)/", name)}
    assert others == {"package/package.json", "package/README.md"}


def test_the_examples_of_the_readme_use_the_installed_package(
    tarball: Path, tmp_path: Path
) -> None:
    examples = re.findall(
        r"^```ts\n(.*?)^```$", (KIT.folder / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
    names = [f"example{number}" for number in range(len(examples))]
    *bots, _, _ = names  # the last ones read a transcript, and play in a browser
    assert len(bots) == 4
    (tmp_path / "src").mkdir()
    for name, example in zip(names, examples, strict=True):
        (tmp_path / "src" / f"{name}.ts").write_text(example)
    (tmp_path / "package.json").write_text('{"name": "mine", "type": "module"}')
    (tmp_path / "tsconfig.json").write_text(json.dumps(CONFIGURATION))
    tools = json.loads((KIT.folder / "package.json").read_text())
    needed = {**tools["dependencies"], **tools["devDependencies"]}
    page = json.loads((KIT.folder.parent / "web" / "package.json").read_text())
    needed["@noble/hashes"] = page["devDependencies"]["@noble/hashes"]
    packages = ("typescript", "@types/node", "@bufbuild/protobuf", "@noble/hashes")
    execute(
        "npm", "install", tarball, *(f"{name}@{needed[name]}" for name in packages), cwd=tmp_path
    )
    execute(tmp_path / "node_modules/.bin/tsc", cwd=tmp_path)
    printed = execute(
        sys.executable, "-m", "asara_server.cli", "match",
        *(f"node {tmp_path}/bots/{name}.js" for name in bots),
        "--seed", "1", "--readable", tmp_path / "node_modules",
        "--readable", tmp_path / "package.json", cwd=tmp_path,
    )  # four seats, in the sandbox  # fmt: skip
    assert "prestige" in printed
    assert "forfeit" not in printed
