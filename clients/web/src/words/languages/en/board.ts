/** Words of the drawn table, beside those of the game, in English. */

import type { Texts } from "../../catalogue.js";

export const board = {
  towers: "{count:# tower|# towers}",
  plot: "Found a tower here",
  free: "free",
  costs: "costs {asari}",
  gives: "gives {asari}",
  hidden: "Hidden: money and sections behind the screen",
  unbuilt: "Behind the screen",
  searched: "To choose from",
  searching: "being searched now",
  track: "Prestige bar",
} as const satisfies Texts;
