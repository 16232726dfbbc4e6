/** What the page says when the texts of a language cannot be loaded: always there, in all of them. */

import type { Section } from "./catalogue.js";

export const unloaded = {
  de: { failed: "Die Texte ließen sich nicht laden. Lade die Seite neu, wenn der Server läuft." },
  en: { failed: "The texts could not be loaded. Reload the page when the server is running." },
  fr: {
    failed:
      "Les textes n’ont pas pu être chargés. Rechargez la page lorsque le serveur fonctionne.",
  },
  it: {
    failed: "Non è stato possibile caricare i testi. Ricarica la pagina quando il server è attivo.",
  },
  nl: { failed: "De teksten konden niet worden geladen. Herlaad de pagina als de server draait." },
  es: {
    failed:
      "No se han podido cargar los textos. Vuelve a cargar la página cuando el servidor funcione.",
  },
} as const satisfies Section;
