/** Words that all pages use. */

import type { Section } from "../catalogue.js";

export const common = {
  de: {
    language: "Sprache",
    close: "Schließen",
    seat: "Sitz {seat}",
    matches: "{count:# Partie|# Partien}",
    you: "du",
  },
  en: {
    language: "Language",
    close: "Close",
    seat: "Seat {seat}",
    matches: "{count:# match|# matches}",
    you: "you",
  },
  fr: {
    language: "Langue",
    close: "Fermer",
    seat: "Siège {seat}",
    matches: "{count:# partie|# parties}",
    you: "vous",
  },
  it: {
    language: "Lingua",
    close: "Chiudi",
    seat: "Posto {seat}",
    matches: "{count:# partita|# partite}",
    you: "tu",
  },
  nl: {
    language: "Taal",
    close: "Sluiten",
    seat: "Stoel {seat}",
    matches: "{count:# partij|# partijen}",
    you: "jij",
  },
  es: {
    language: "Idioma",
    close: "Cerrar",
    seat: "Asiento {seat}",
    matches: "{count:# partida|# partidas}",
    you: "tú",
  },
} as const satisfies Section;
