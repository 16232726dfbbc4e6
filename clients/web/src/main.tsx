/** The page that `asara web` serves. */

import { render } from "preact";
import { Page } from "./page.js";
import "./ui/theme.css";

const root = document.getElementById("page");
if (root !== null) render(<Page />, root);
