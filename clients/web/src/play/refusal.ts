/** Why a space cannot be chosen, in words. */

import { DecisionKind } from "asara/gen/play_pb.js";
import { Area } from "asara/gen/vocabulary_pb.js";
import { areaStates, type SpaceState } from "../board/table.js";
import { type BoardChoices, spaceTarget, type Target } from "../board/targets.js";
import type { MatchSetting, Moment } from "../match/model.js";
import { t } from "../words/language.js";
import { play } from "../words/sections/play.js";
import { areaName, asariText, buyerColourName, spaceName } from "../words/vocabulary.js";

/** Returns the first reason that the seat's own view shows; undefined for other places. */
export function refusal(
  target: Target,
  kind: DecisionKind,
  setting: MatchSetting,
  { table }: Moment,
  seat: number,
  actions: BoardChoices["actions"],
): string | undefined {
  if (kind !== DecisionKind.SPACE && kind !== DecisionKind.WISH) return undefined;
  for (const { area, colour, spaces } of areaStates(setting, table).values()) {
    const state = spaces.find(({ space }) => spaceTarget(space) === target);
    if (state === undefined) continue;
    const space = spaceName(state.space);
    const mine = table.privateViews[seat];
    const hand: readonly number[] = mine?.hand ?? [];
    const cost = costOf(state);
    const goes = kind === DecisionKind.SPACE;
    if (goes && state.dispatched.length > 0 && area !== Area.COLOURED_BUILDING)
      return t(play, "whyTaken", { space });
    if (goes && colour !== 0 && hand.length < 2 && !hand.includes(colour))
      return t(play, "whyColour", { area: areaName(area), colour: buyerColourName(colour) });
    if (mine !== undefined && cost > mine.asari)
      return t(play, "whyCost", { space, cost: asariText(cost), asari: asariText(mine.asari) });
    if (area === Area.BUILDING_CIRCLE) return t(play, "whyBuild", { space });
    // Free spaces of an area that differ in nothing are offered once.
    const equal = spaces.find(
      (other) => isEqual(other, state) && actions.has(spaceTarget(other.space)),
    );
    if (equal !== undefined) return t(play, "whyEqual", { other: spaceName(equal.space) });
    return t(play, "whyNot", { space });
  }
  return undefined;
}

function isEqual(one: SpaceState, other: SpaceState): boolean {
  const { info, cards } = other;
  const cardless = one.cards.length + cards.length === 0;
  return cardless && one.info.cost === info.cost && one.info.income === info.income;
}

/** Asari that must be paid at a space. */
function costOf({ info, space }: SpaceState): number {
  return space.area === Area.BUILDING_CIRCLE ? space.number : info.cost;
}
