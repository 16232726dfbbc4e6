/** All texts in French. */

export { board } from "./board.js";
export { common } from "./common.js";
export { fr as catalogue, frRules as rules } from "./game.js";
export { play } from "./play.js";
export { replay } from "./replay.js";
export { runs } from "./runs.js";
