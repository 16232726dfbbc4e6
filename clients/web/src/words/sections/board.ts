/** Words of the drawn table, beside those of the game. */

import type { Section } from "../catalogue.js";

export const board = {
  de: {
    towers: "{count:# Turm|# Türme}",
    plot: "Hier einen Turm errichten",
    hidden: "Verdeckt: Geld und Turmteile hinter dem Sichtschirm",
    unbuilt: "Hinter dem Sichtschirm",
    searched: "Zur Auswahl",
    searching: "wird gerade durchgesehen",
    track: "Prestigeleiste",
  },
  en: {
    towers: "{count:# tower|# towers}",
    plot: "Found a tower here",
    hidden: "Hidden: money and sections behind the screen",
    unbuilt: "Behind the screen",
    searched: "To choose from",
    searching: "being searched now",
    track: "Prestige bar",
  },
  fr: {
    towers: "{count:# tour|# tours}",
    plot: "Fonder une tour ici",
    hidden: "Cachés : l’argent et les blocs derrière le paravent",
    unbuilt: "Derrière le paravent",
    searched: "Au choix",
    searching: "consultée en ce moment",
    track: "Échelle des points",
  },
  it: {
    towers: "{count:# torre|# torri}",
    plot: "Fonda qui una torre",
    hidden: "Nascosti: soldi e pezzi dietro il paravento",
    unbuilt: "Dietro il paravento",
    searched: "Da scegliere",
    searching: "in esame in questo momento",
    track: "Cornice segnapunti",
  },
  nl: {
    towers: "{count:# toren|# torens}",
    plot: "Hier een toren bouwen",
    hidden: "Verborgen: geld en torenelementen achter het zichtscherm",
    unbuilt: "Achter het zichtscherm",
    searched: "Om uit te kiezen",
    searching: "wordt nu doorzocht",
    track: "Prestigelijst",
  },
  es: {
    towers: "{count:# torre|# torres}",
    plot: "Fundar una torre aquí",
    hidden: "Oculto: dinero y secciones detrás de la pantalla",
    unbuilt: "Detrás de la pantalla",
    searched: "Para elegir",
    searching: "se está examinando",
    track: "Barra de prestigio",
  },
} as const satisfies Section;
