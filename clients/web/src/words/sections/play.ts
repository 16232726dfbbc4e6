/** Texts of the page on which a person plays. */

import { section } from "../packs.js";

export const play = section("play");
