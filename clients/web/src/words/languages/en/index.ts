/** All texts in English. */

export { board } from "./board.js";
export { common } from "./common.js";
export { en as catalogue, enRules as rules } from "./game.js";
export { play } from "./play.js";
export { replay } from "./replay.js";
export { runs } from "./runs.js";
