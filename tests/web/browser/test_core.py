"""The core of the TypeScript client plays in a browser."""

import asyncio
import re
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute

from tests.web.chromium import opened_page
from tests.web.play_table import Table, play_table, sit_down

README = Path(__file__).parents[3] / "clients/typescript/README.md"

_CAUGHT = """ catch (error) {
  document.body.textContent = `${error.name}, ${error.code}, ${error.reason}: ${error.message}`;
}
"""
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


def show(page: Page, link: str, script: str) -> None:
    """Run a module with the fragment of a link, in a document that needs no built page."""
    page.route(
        re.compile("/bot.js$"),
        lambda route: route.fulfill(body=script, content_type="text/javascript"),
    )
    page.goto(link.replace("/play#", "/api/runs#"))
    page.add_script_tag(url="/bot.js", type="module")


def other_plays(page: Page, link: str) -> Any:
    """Let another person play, until the end; meanwhile the page goes on."""
    with ThreadPoolExecutor(1) as threads:
        playing = threads.submit(lambda: asyncio.run(sit_down(link)))

        while not playing.done():  # at the latest when the table is stopped
            page.wait_for_timeout(20)
        return playing.result()


def readme_code() -> str:
    """The example of the README."""
    blocks = re.findall(r"^```ts\n(.*?)^```$", README.read_text(), re.DOTALL | re.MULTILINE)
    code: str
    (code,) = (block for block in blocks if "playSocket" in block)
    return code


@pytest.fixture
def table() -> Iterator[Table]:
    with play_table("random", "--matches", "1", "--sandbox", "none", people=2) as table:
        yield table


@pytest.fixture
def page(browser: Browser, table: Table) -> Iterator[Page]:  # noqa: ARG001 - ends before its table
    with opened_page(browser) as page:
        yield page


def test_a_broken_connection_costs_nothing_but_time(
    page: Page, tmp_path: Path, table: Table
) -> None:
    sockets: list[WebSocketRoute] = []

    def break_the_first(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        received = 0

        def pass_on(message: str | bytes) -> None:
            nonlocal received
            received += 1
            if len(sockets) == 1 and received == 12:
                server.close()
                socket.close(code=1011)
                return
            socket.send(message)

        server = socket.connect_to_server()
        server.on_message(pass_on)

    page.route_web_socket(re.compile("/ws/play$"), break_the_first)
    mine, theirs = table.links
    show(page, mine, bundled(readme_code(), tmp_path))
    ended = other_plays(page, theirs)
    assert len(sockets) == 2
    assert all(result.detail == "" for result in ended.results)


def test_a_refusal_is_an_error_with_its_reason(page: Page, tmp_path: Path, table: Table) -> None:
    begin, play, call = readme_code().partition("await playSocket(")
    call = call.replace(" token }", ' token: "wrong", patienceS: 1 }')
    script = bundled(f"{begin}try {{ {play}{call} }}{_CAUGHT}", tmp_path)
    show(page, table.links[0], script)
    page.get_by_text("refused this bot").wait_for()
    text = page.locator("body").inner_text()
    assert text.startswith("RefusedError, UNAUTHENTICATED, unknown-token: the referee at ws://")
