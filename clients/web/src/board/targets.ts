/** Places on the board that a person can choose, for the seat that decides. */

import type { Action } from "asara/gen/vocabulary_pb.js";

/**
 * Name of a place on the board:
 *
 * - `space AREA NUMBER`: a space, with the numbers of `Area` and `Space.number`
 * - `hand COLOUR`: buyers of one colour in the hand
 * - `display KIND COLOUR GOLD`: sections of a display; GOLD is 0 or 1
 * - `searched KIND COLOUR GOLD`: sections of the searched pile
 * - `pile KIND`: the pile of a market
 * - `tower NUMBER`: a tower of the seat
 * - `plot`: the place for a new tower of the seat
 * - `lit COLOUR`: lit windows in the seat's stock or among those drawn
 * - `buyer COLOUR`: buyers of the searched buyer pile
 * - `offer ASARI`: an offer of the House of Lighted Windows
 * - `decline`, `count N`, and other choices without a place are shown beside the board
 */
export type Target = string;

/** What can be chosen now: the board lights the targets and dims everything else. */
export interface BoardChoices {
  /** Legal actions by target; with several, the person chooses among them next. */
  readonly actions: ReadonlyMap<Target, readonly Action[]>;
  /** Targets that are chosen already, such as the space while its buyers are chosen. */
  readonly chosen: ReadonlySet<Target>;
  readonly choose: (target: Target) => void;
}
