/** The page that `asara web` serves. */

import { render } from "preact";
import { loadPage, Page } from "./page.js";
import { startRouter } from "./router.js";
import { applyTheme } from "./settings.js";
import "./ui/theme.css";
import { language } from "./words/language.js";
import { LOADERS } from "./words/loaders.js";
import { loadPack, loadWith } from "./words/packs.js";
import { unloaded } from "./words/unloaded.js";

applyTheme();
startRouter();
loadWith(LOADERS);
const root = document.getElementById("page");
if (root !== null) {
  loadPage(); // beside the texts, not after them
  loadPack(language.value).then(
    () => render(<Page />, root),
    () => {
      root.textContent = unloaded[language.value].failed;
    },
  );
}
