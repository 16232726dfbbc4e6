/** Words of the drawn table, beside those of the game, in French. */

import type { Texts } from "../../catalogue.js";

export const board = {
  towers: "{count:# tour|# tours}",
  plot: "Fonder une tour ici",
  hidden: "Cachés : l’argent et les blocs derrière le paravent",
  free: "libre",
  costs: "coûte {asari}",
  gives: "rapporte {asari}",
  unbuilt: "Derrière le paravent",
  searched: "Au choix",
  searching: "consultée en ce moment",
  track: "Échelle des points",
} as const satisfies Texts;
