"""Parts of the page as scripts of their own, which tests run in a document of the server."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Page

_WEB = Path(__file__).parents[3] / "clients/web"
_BUILD = """
import { build, loadConfigFromFile } from "vite";
const [entry, code, outDir] = process.argv.slice(1);
const { config } = await loadConfigFromFile({ command: "build" }, "vite.config.ts");
const [kit] = config.resolve.alias;
const script = {
  name: "script", // stands at a path where imports are found, but is not written there
  enforce: "pre",
  resolveId: (id) => (id === entry ? id : undefined),
  load: (id) => (id === entry ? code : undefined),
};
const core = { find: "asara/core", replacement: `${kit.replacement}core.ts` };
await build({
  configFile: false,
  logLevel: "error",
  plugins: [script],
  resolve: { ...config.resolve, alias: [core, kit] },
  build: { outDir, target: "es2022", lib: { entry, formats: ["es"], fileName: () => "bot.js" } },
});
"""


def bundled(code: str, folder: Path) -> str:
    """Return TypeScript, and all that it imports, as one module; paths begin in `clients/web/src`.

    `folder` is an empty one.
    """
    if not shutil.which("node") or not (_WEB / "node_modules/vite").exists():
        pytest.skip("npm ci has not been run in clients/web")
    arguments = [str(_WEB / "src/test.ts"), code, str(folder)]
    command = ["node", "--input-type=module", "--eval", _BUILD, *arguments]
    subprocess.run(command, cwd=_WEB, check=True)
    return (folder / "bot.js").read_text()


def run_in_page(page: Page, address: str, script: str) -> None:
    """Run a module in a document of a server, such as `/api/runs`, which needs no built page."""
    page.route(
        re.compile("/bot.js$"),
        lambda route: route.fulfill(body=script, content_type="text/javascript"),
    )
    page.goto(address)
    page.add_script_tag(url="/bot.js", type="module")
