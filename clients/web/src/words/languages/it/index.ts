/** All texts in Italian. */

export { board } from "./board.js";
export { common } from "./common.js";
export { it as catalogue, itRules as rules } from "./game.js";
export { play } from "./play.js";
export { replay } from "./replay.js";
export { runs } from "./runs.js";
