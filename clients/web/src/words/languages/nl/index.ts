/** All texts in Dutch. */

export { board } from "./board.js";
export { common } from "./common.js";
export { nl as catalogue, nlRules as rules } from "./game.js";
export { play } from "./play.js";
export { replay } from "./replay.js";
export { runs } from "./runs.js";
