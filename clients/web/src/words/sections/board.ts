/** Words of the drawn table, beside those of the game. */

import { section } from "../packs.js";

export const board = section("board");
