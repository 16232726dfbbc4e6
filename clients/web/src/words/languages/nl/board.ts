/** Words of the drawn table, beside those of the game, in Dutch. */

import type { Texts } from "../../catalogue.js";

export const board = {
  towers: "{count:# toren|# torens}",
  plot: "Hier een toren bouwen",
  free: "vrij",
  costs: "kost {asari}",
  gives: "levert {asari} op",
  hidden: "Verborgen: geld en torenelementen achter het zichtscherm",
  unbuilt: "Achter het zichtscherm",
  searched: "Om uit te kiezen",
  searching: "wordt nu doorzocht",
  track: "Prestigelijst",
} as const satisfies Texts;
