/** What the drawing needs of a table, by place. */

import type { Dispatched, PublicView } from "asara/gen/view_pb.js";
import type { Area, BuyerColour, GiftCard, Space, SpaceInfo } from "asara/gen/vocabulary_pb.js";
import { RuleSet } from "asara/gen/vocabulary_pb.js";
import type { MatchSetting, TableState } from "../match/model.js";

/** A space with everything on it. */
export interface SpaceState {
  readonly info: SpaceInfo;
  readonly space: Space;
  readonly dispatched: readonly Dispatched[];
  readonly cards: readonly GiftCard[];
  /** Colours of the face-down buyers, if the viewer knows them. */
  readonly known: readonly BuyerColour[];
}

/** An area with its spaces; absent areas have none. */
export interface AreaState {
  readonly area: Area;
  readonly colour: BuyerColour | 0;
  readonly spaces: readonly SpaceState[];
  /** Equal for areas that look the same. */
  readonly key: string;
}

const same = (one: Space | undefined, other: Space | undefined): boolean =>
  one?.area === other?.area && one?.number === other?.number;

/** Returns the areas of the match by number, as they lie now. */
export function areaStates(setting: MatchSetting, table: TableState): ReadonlyMap<Area, AreaState> {
  const { areas, chests } = table.publicView;
  const faceDown = table.privateViews.flatMap((view) => view?.faceDown ?? []);
  const spaces = new Map<Area, SpaceState[]>();
  for (const info of setting.edition.spaces) {
    const { space } = info;
    if (space === undefined) continue;
    const there = areas.find((view) => view.area === space.area);
    const list = spaces.get(space.area) ?? [];
    list.push({
      info,
      space,
      dispatched: there?.dispatched.filter((laid) => laid.number === space.number) ?? [],
      cards: chests.find((chest) => same(chest.space, space))?.cards ?? [],
      known: faceDown.filter((laid) => same(laid.space, space)).flatMap((laid) => laid.buyers),
    });
    spaces.set(space.area, list);
  }
  const states = new Map<Area, AreaState>();
  for (const [area, list] of spaces) {
    const colour = areas.find((view) => view.area === area)?.colour ?? 0;
    states.set(area, { area, colour, spaces: list, key: keyOf(colour, list) });
  }
  return states;
}

function keyOf(colour: number, spaces: readonly SpaceState[]): string {
  const parts = spaces.map(({ dispatched, cards, known }) =>
    [
      dispatched.map((laid) => `${laid.seat}.${laid.colour}`),
      cards.map((card) => `${card.kind}.${card.asari}.${card.sectionKind}`),
      known,
    ].join("/"),
  );
  return `${colour};${parts.join(";")}`;
}

/** A face-down stack that belongs to no area. */
export type Supply = "buyers" | "lit" | "gifts";

/** Returns the stacks that the rules of the match have, with their sizes. */
export function supplies(
  { ruleSets }: Pick<MatchSetting, "ruleSets">,
  view: PublicView,
): [Supply, number][] {
  const stacks: [Supply, number][] = [["buyers", view.buyerPileSize]];
  if (ruleSets.includes(RuleSet.PROFESSIONAL)) stacks.push(["lit", view.litWindowStackSize]);
  if (ruleSets.includes(RuleSet.GIFTS)) stacks.push(["gifts", view.giftDeckSize]);
  return stacks;
}

/** Items with the number of times that each comes, in the order of their first one. */
export function counted<T>(items: readonly T[], key: (item: T) => string): [T, number][] {
  const counts = new Map<string, [T, number]>();
  for (const item of items) {
    const entry = counts.get(key(item));
    if (entry === undefined) counts.set(key(item), [item, 1]);
    else entry[1]++;
  }
  return [...counts.values()];
}
