/** The pages about runs, which are loaded together. */

export { MatchesPage } from "./matches-page.js";
export { NowherePage } from "./nowhere-page.js";
export { RunPage } from "./run-page.js";
export { RunsPage } from "./runs-page.js";
