/** Words that all pages use, in French. */

import type { Texts } from "../../catalogue.js";

export const common = {
  language: "Langue",
  close: "Fermer",
  rules: "Règles et symboles",
  seat: "Siège {seat}",
  matches: "{count:# partie|# parties}",
  you: "vous",
  referee: "Arbitre :",
} as const satisfies Texts;
