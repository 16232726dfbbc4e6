/** Words of the drawn table, beside those of the game, in Spanish. */

import type { Texts } from "../../catalogue.js";

export const board = {
  towers: "{count:# torre|# torres}",
  plot: "Fundar una torre aquí",
  free: "libre",
  costs: "cuesta {asari}",
  gives: "da {asari}",
  hidden: "Oculto: dinero y secciones detrás de la pantalla",
  unbuilt: "Detrás de la pantalla",
  searched: "Para elegir",
  searching: "se está examinando",
  track: "Barra de prestigio",
} as const satisfies Texts;
