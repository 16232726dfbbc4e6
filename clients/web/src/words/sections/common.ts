/** Words that all pages use. */

import type { Section } from "../catalogue.js";

export const common = {
  de: {
    language: "Sprache",
    close: "Schließen",
    seat: "Platz {seat}",
    matches: "{count:# Partie|# Partien}",
  },
  en: {
    language: "Language",
    close: "Close",
    seat: "Seat {seat}",
    matches: "{count:# match|# matches}",
  },
  fr: {
    language: "Langue",
    close: "Fermer",
    seat: "Place {seat}",
    matches: "{count:# partie|# parties}",
  },
  it: {
    language: "Lingua",
    close: "Chiudi",
    seat: "Posto {seat}",
    matches: "{count:# partita|# partite}",
  },
  nl: {
    language: "Taal",
    close: "Sluiten",
    seat: "Plaats {seat}",
    matches: "{count:# partij|# partijen}",
  },
  es: {
    language: "Idioma",
    close: "Cerrar",
    seat: "Asiento {seat}",
    matches: "{count:# partida|# partidas}",
  },
} as const satisfies Section;
