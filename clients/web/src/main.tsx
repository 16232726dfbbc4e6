/** The page that `asara web` serves. */

import { render } from "preact";
import { Page } from "./page.js";
import { startRouter } from "./router.js";
import { applyTheme } from "./ui/settings.js";
import "./ui/theme.css";

applyTheme();
startRouter();
const root = document.getElementById("page");
if (root !== null) render(<Page />, root);
