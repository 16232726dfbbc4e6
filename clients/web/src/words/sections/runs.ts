/** Texts of the pages about runs. */

import { section } from "../packs.js";

export const runs = section("runs");
