/** Loads the texts of one language from the server that the page came from. */

import type { Loaders } from "./packs.js";

export const LOADERS: Loaders = {
  de: () => import("./languages/de/index.js"),
  en: () => import("./languages/en/index.js"),
  fr: () => import("./languages/fr/index.js"),
  it: () => import("./languages/it/index.js"),
  nl: () => import("./languages/nl/index.js"),
  es: () => import("./languages/es/index.js"),
};
