/** Words that all pages use, in English. */

import type { Texts } from "../../catalogue.js";

export const common = {
  language: "Language",
  close: "Close",
  rules: "Rules and symbols",
  seat: "Seat {seat}",
  matches: "{count:# match|# matches}",
  you: "you",
  referee: "Referee:",
} as const satisfies Texts;
