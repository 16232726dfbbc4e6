/** All texts in Spanish. */

export { board } from "./board.js";
export { common } from "./common.js";
export { es as catalogue, esRules as rules } from "./game.js";
export { play } from "./play.js";
export { replay } from "./replay.js";
export { runs } from "./runs.js";
