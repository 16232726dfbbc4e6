/** The single-file page that `asara replay page` writes: the match is inside the file. */

import { render } from "preact";
import "./ui/theme.css";

const root = document.getElementById("page");
if (root !== null) render(<main>ASARA</main>, root);
