/**
 * The texts of the page that is one file, in all languages: it can load nothing, and holds no texts of
 * pages that it lacks.
 */

import * as de from "./languages/de/index.js";
import * as en from "./languages/en/index.js";
import * as es from "./languages/es/index.js";
import * as fr from "./languages/fr/index.js";
import * as it from "./languages/it/index.js";
import * as nl from "./languages/nl/index.js";
import { addPacks } from "./packs.js";

addPacks({
  de: {
    board: de.board,
    catalogue: de.catalogue,
    common: de.common,
    replay: de.replay,
    rules: de.rules,
    runs: de.runs,
  },
  en: {
    board: en.board,
    catalogue: en.catalogue,
    common: en.common,
    replay: en.replay,
    rules: en.rules,
    runs: en.runs,
  },
  fr: {
    board: fr.board,
    catalogue: fr.catalogue,
    common: fr.common,
    replay: fr.replay,
    rules: fr.rules,
    runs: fr.runs,
  },
  it: {
    board: it.board,
    catalogue: it.catalogue,
    common: it.common,
    replay: it.replay,
    rules: it.rules,
    runs: it.runs,
  },
  nl: {
    board: nl.board,
    catalogue: nl.catalogue,
    common: nl.common,
    replay: nl.replay,
    rules: nl.rules,
    runs: nl.runs,
  },
  es: {
    board: es.board,
    catalogue: es.catalogue,
    common: es.common,
    replay: es.replay,
    rules: es.rules,
    runs: es.runs,
  },
});
