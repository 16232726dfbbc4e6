/** All texts at once: for the tests and the gallery. */

import * as de from "./languages/de/index.js";
import * as en from "./languages/en/index.js";
import * as es from "./languages/es/index.js";
import * as fr from "./languages/fr/index.js";
import * as it from "./languages/it/index.js";
import * as nl from "./languages/nl/index.js";
import { addPacks } from "./packs.js";

addPacks({ de, en, fr, it, nl, es });
