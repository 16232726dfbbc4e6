/** Words that all pages use, in Dutch. */

import type { Texts } from "../../catalogue.js";

export const common = {
  language: "Taal",
  close: "Sluiten",
  rules: "Regels en symbolen",
  seat: "Stoel {seat}",
  matches: "{count:# partij|# partijen}",
  you: "jij",
  referee: "Scheidsrechter:",
} as const satisfies Texts;
