/** Texts of the match page. */

import { section } from "../packs.js";

export const replay = section("replay");
