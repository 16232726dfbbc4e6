/** All texts in German. */

export { board } from "./board.js";
export { common } from "./common.js";
export { de as catalogue, deRules as rules } from "./game.js";
export { play } from "./play.js";
export { replay } from "./replay.js";
export { runs } from "./runs.js";
