"""Chromium checks the signature of a replay."""

import base64
from pathlib import Path

from playwright.sync_api import Page

from asara_server.replay.file import parse_file
from asara_server.replay.signing import fingerprint
from tests.vectors.viewed_matches import FOLDER
from tests.web.browser.scripts import bundled, run_in_page

_ADDRESS = "http://127.0.0.1/check"
_CHECK = """
import { verifyReplay } from "./match/verify.js";
const file = Uint8Array.from(atob("FILE"), (character) => character.charCodeAt(0));
const words = async (bytes: Uint8Array<ArrayBuffer>) => {
  const verdict = await verifyReplay(bytes);
  return `${verdict.kind} ${"key" in verdict ? verdict.key : verdict.fault}`;
};
const forged = file.slice();
forged[forged.length - 1] ^= 1;
const verdicts = [await words(file), await words(forged), await words(file.slice(0, 99))];
document.body.textContent = verdicts.join(", ");
document.body.dataset["checked"] = "";
"""


def test_chromium_checks_the_chain_and_the_signature(page: Page, tmp_path: Path) -> None:
    file = (FOLDER / "basic-2.asara").read_bytes()
    script = bundled(_CHECK.replace("FILE", base64.b64encode(file).decode()), tmp_path)
    page.route(_ADDRESS, lambda route: route.fulfill(body="<title>A check</title>"))
    run_in_page(page, _ADDRESS, script)
    page.locator("[data-checked]").wait_for()
    key = fingerprint(parse_file(file).signature.public_key)
    verdicts = f"sound {key}, forged {key}, broken cut-short"
    assert page.locator("body").inner_text() == verdicts
