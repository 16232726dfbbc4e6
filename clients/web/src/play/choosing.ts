/** How clicks become an action: targets are picked until one action is left. */

import type { Action } from "asara/gen/vocabulary_pb.js";
import { ON_BOARD, type Target, targetsOf } from "../board/targets.js";

/** Returns the targets of an action, with repetitions such as the two buyers of a pair. */
function usesOf(action: Action, searched: boolean): readonly Target[] {
  const { case: kind, value } = action.action;
  if (kind === "layBuyers") return value.buyers.map((colour) => `hand ${colour}`);
  if (kind === "keepLitWindows") return value.colours.map((colour) => `lit ${colour}`);
  return targetsOf(action, searched);
}

/** Returns what is left of some targets without others; undefined if these are not among them. */
function without(all: readonly Target[], some: readonly Target[]): Target[] | undefined {
  const rest = [...all];
  for (const one of some) {
    const index = rest.indexOf(one);
    if (index < 0) return undefined;
    rest.splice(index, 1);
  }
  return rest;
}

/** Returns the legal actions that use all picked targets. */
function matching(
  legal: readonly Action[],
  picked: readonly Target[],
  searched = false,
): readonly Action[] {
  return legal.filter((action) => without(usesOf(action, searched), picked) !== undefined);
}

/** What a click on a target leads to: an action, or other picked targets. */
export type Pick = { readonly action: Action } | { readonly picked: readonly Target[] };

/**
 * Takes a click on a target. A click on a picked one puts it back, unless an action uses it twice.
 */
export function pick(
  legal: readonly Action[],
  picked: readonly Target[],
  target: Target,
  searched = false,
): Pick {
  const now = [...picked, target];
  const actions = matching(legal, now, searched);
  const [only] = actions;
  if (only !== undefined && actions.length === 1) return { action: only };
  if (actions.length > 1) return { picked: now };
  const index = picked.lastIndexOf(target);
  if (index >= 0) return { picked: picked.filter((_, at) => at !== index) };
  // Another thing instead of the one picked before.
  return picked.length > 0 ? pick(legal, [], target, searched) : { picked };
}

/** Returns the actions by the targets that can be picked next. */
export function nextTargets(
  legal: readonly Action[],
  picked: readonly Target[],
  searched = false,
): ReadonlyMap<Target, readonly Action[]> {
  const targets = new Map<Target, Action[]>();
  for (const action of legal) {
    for (const target of new Set(without(usesOf(action, searched), picked))) {
      if (!isOnBoard(target)) continue;
      const there = targets.get(target);
      if (there === undefined) targets.set(target, [action]);
      else there.push(action);
    }
  }
  return targets;
}

/** True if the board draws the target. */
function isOnBoard(target: Target): boolean {
  return ON_BOARD.has(target.split(" ", 1)[0] ?? "");
}

/** Returns the actions that are offered as buttons: those that no click on the board can choose. */
export function besideBoard(
  legal: readonly Action[],
  picked: readonly Target[],
  searched = false,
): readonly Action[] {
  if (picked.length > 0) return matching(legal, picked, searched);
  return legal.filter((action) => !usesOf(action, searched).some(isOnBoard));
}
