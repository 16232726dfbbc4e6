/** The page that `asara replay page` writes: the match is inside the file, and no server is asked. */

import { render } from "preact";
import { FileSource } from "./replay/file-source.js";
import { parseViewer } from "./replay/links.js";
import { MatchView } from "./replay/match-view.js";
import { applyTheme } from "./ui/settings.js";
import "./ui/theme.css";
import "./words/offline.js";

const root = document.getElementById("page");
if (root !== null) {
  applyTheme();
  const query = new URLSearchParams(location.search);
  const source = new FileSource(parseViewer(query.get("viewer")));
  render(<MatchView source={source} embedded={query.has("embed")} />, root);
}
