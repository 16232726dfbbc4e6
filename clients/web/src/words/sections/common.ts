/** Words that all pages use. */

import { section } from "../packs.js";

export const common = section("common");
