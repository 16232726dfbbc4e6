/** Words that all pages use, in Spanish. */

import type { Texts } from "../../catalogue.js";

export const common = {
  language: "Idioma",
  close: "Cerrar",
  rules: "Reglas y símbolos",
  seat: "Asiento {seat}",
  matches: "{count:# partida|# partidas}",
  you: "tú",
  referee: "Árbitro:",
} as const satisfies Texts;
