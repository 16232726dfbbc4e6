/** Words that all pages use, in Italian. */

import type { Texts } from "../../catalogue.js";

export const common = {
  language: "Lingua",
  close: "Chiudi",
  rules: "Regole e simboli",
  seat: "Posto {seat}",
  matches: "{count:# partita|# partite}",
  you: "tu",
  referee: "Arbitro:",
} as const satisfies Texts;
