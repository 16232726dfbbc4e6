/** Words of the drawn table, beside those of the game, in Italian. */

import type { Texts } from "../../catalogue.js";

export const board = {
  towers: "{count:# torre|# torri}",
  plot: "Fonda qui una torre",
  hidden: "Nascosti: soldi e pezzi dietro il paravento",
  free: "libero",
  costs: "costa {asari}",
  gives: "rende {asari}",
  unbuilt: "Dietro il paravento",
  searched: "Da scegliere",
  searching: "in esame in questo momento",
  track: "Cornice segnapunti",
} as const satisfies Texts;
