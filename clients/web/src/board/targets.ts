/** Places on the board that a person can choose, for the seat that decides. */

import type { Action, Section, Space } from "asara/gen/vocabulary_pb.js";

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
  /** Called for a place that cannot be chosen, to say why. */
  readonly refuse: (target: Target) => void;
}

/** Targets that the board draws; the others are shown beside it. */
export const ON_BOARD: ReadonlySet<string> = new Set([
  "space",
  "hand",
  "display",
  "searched",
  "pile",
  "tower",
  "plot",
  "lit",
  "buyer",
  "offer",
]);

export function spaceTarget(space: Space | undefined): Target {
  return `space ${space?.area ?? 0} ${space?.number ?? 0}`;
}

export function sectionTarget(
  source: "display" | "searched",
  section: Pick<Section, "kind" | "colour" | "gold"> | undefined,
): Target {
  if (section === undefined) return source;
  return `${source} ${section.kind} ${section.colour} ${section.gold ? 1 : 0}`;
}

/**
 * Returns the targets of an action: several if it names several things, such as the buyers of a
 * pair. `searched` is true while a pile is being searched.
 */
export function targetsOf(action: Action, searched = false): readonly Target[] {
  const { case: kind, value } = action.action;
  switch (kind) {
    case "chooseSpace":
    case "wish":
      return [spaceTarget(value.space)];
    case "layBuyers":
      return [...new Set(value.buyers.map((colour) => `hand ${colour}`))];
    case "takeSection":
      return [sectionTarget(searched ? "searched" : "display", value.section)];
    case "searchPile":
      return [`pile ${value.kind}`];
    case "extendTower":
    case "lightWindow":
      return [`tower ${value.tower}`];
    case "foundTower":
      return ["plot"];
    case "payOffer":
      return [`offer ${value.asari}`];
    case "keepLitWindows":
      return [...new Set(value.colours.map((colour) => `lit ${colour}`))];
    case "returnLitWindow":
      return [`lit ${value.colour}`];
    case "chooseBuyer":
      return [`buyer ${value.buyer}`];
    case "buildCount":
      return [`count ${value.count}`];
    case "decline":
      return ["decline"];
    case undefined:
      return [];
  }
}

/** Returns legal actions by target, in the order of the actions. */
export function actionsByTarget(
  legal: readonly Action[],
  searched = false,
): ReadonlyMap<Target, readonly Action[]> {
  const actions = new Map<Target, Action[]>();
  for (const action of legal) {
    for (const target of targetsOf(action, searched)) {
      const there = actions.get(target);
      if (there === undefined) actions.set(target, [action]);
      else there.push(action);
    }
  }
  return actions;
}
