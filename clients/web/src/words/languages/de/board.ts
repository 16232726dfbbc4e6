/** Words of the drawn table, beside those of the game, in German. */

import type { Texts } from "../../catalogue.js";

export const board = {
  towers: "{count:# Turm|# Türme}",
  plot: "Hier einen Turm errichten",
  free: "frei",
  costs: "kostet {asari}",
  gives: "bringt {asari}",
  hidden: "Verdeckt: Geld und Turmteile hinter dem Sichtschirm",
  unbuilt: "Hinter dem Sichtschirm",
  searched: "Zur Auswahl",
  searching: "wird gerade durchgesehen",
  track: "Prestigeleiste",
} as const satisfies Texts;
