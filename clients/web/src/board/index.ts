/** The board and its pieces, for all pages. */

export { Board, type BoardProps, type RaisedTower } from "./board.js";
export { BuyerIcon, SeatBadge, SectionIcon, TowerIcon } from "./pieces.js";
export { actionsByTarget, type BoardChoices, ON_BOARD, type Target, targetsOf } from "./targets.js";
