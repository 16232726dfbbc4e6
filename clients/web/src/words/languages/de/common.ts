/** Words that all pages use, in German. */

import type { Texts } from "../../catalogue.js";

export const common = {
  language: "Sprache",
  close: "Schließen",
  rules: "Regeln und Symbole",
  seat: "Sitz {seat}",
  matches: "{count:# Partie|# Partien}",
  you: "du",
  referee: "Schiedsrichter:",
} as const satisfies Texts;
