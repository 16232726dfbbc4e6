/** The page inside a file: a match or the report of a run, which the file holds. No server is asked. */

import { render } from "preact";
import { FileSource } from "./replay/file-source.js";
import { parseViewer } from "./replay/links.js";
import { MatchView } from "./replay/match-view.js";
import { ReportPage, readReport } from "./runs/report-page.js";
import { applyTheme } from "./settings.js";
import "./ui/theme.css";
import "./words/offline.js";

const root = document.getElementById("page");
if (root !== null) {
  applyTheme();
  if (document.getElementById("run") === null) {
    const query = new URLSearchParams(location.search);
    const source = new FileSource(parseViewer(query.get("viewer")));
    root.replaceChildren();
    render(<MatchView source={source} embedded={query.has("embed")} />, root);
  } else {
    // If the data cannot be read, the tables that the file contains as HTML stay.
    void readReport().then((report) => {
      root.replaceChildren();
      render(<ReportPage {...report} />, root);
    });
  }
}
