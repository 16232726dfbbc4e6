/** The prestige of a match, explained: each award with its towers, and a table that adds up. */

import type { Event } from "asara/gen/event_pb.js";
import type { PublicView } from "asara/gen/view_pb.js";
import { type Award, type Colour, RuleSet, type Tower } from "asara/gen/vocabulary_pb.js";
import type { MatchRecord } from "../../match/model.js";
import { type AwardKind, towerHeight } from "../../words/sentences.js";

/** A tower that wins a place in an award. */
export interface PlacedTower {
  readonly seat: number;
  readonly tower: Tower;
  readonly place: 1 | 2;
  /** True if others share the place. */
  readonly tied: boolean;
}

/** One award after the last year. */
export interface FinalAward {
  readonly name: AwardKind;
  /** Prestige of the first two places; undefined for money. */
  readonly prizes: Award | undefined;
  /** Towers in question; for most towers, those of the seats that win a place. */
  readonly towers: readonly PlacedTower[];
  /** Prestige by seat, as the referee gave it. */
  readonly points: readonly number[];
}

export function litWindows(tower: Tower): number {
  return tower.litPlainWindows + tower.litGoldWindows;
}

/** The first place and, if only one item has it, the second. `compare` orders best first. */
function places<T>(items: readonly T[], compare: (a: T, b: T) => number): [T[], T[]] {
  const best = [...items].sort(compare);
  const [top] = best;
  if (top === undefined) return [[], []];
  const first = best.filter((item) => compare(item, top) === 0);
  const next = best[first.length];
  if (first.length > 1 || next === undefined) return [first, []];
  return [first, best.slice(1).filter((item) => compare(item, next) === 0)];
}

function finals(record: MatchRecord): Map<number, Event> {
  const events = new Map<number, Event>();
  for (const { events: some } of record.moments) {
    for (const event of some) {
      if (event.event.case === "finalEvaluated") events.set(event.seat, event);
    }
  }
  return events;
}

/** The awards in the order of the rules; none while the match is not over. */
export function finalAwards(record: MatchRecord): readonly FinalAward[] {
  const view = record.moments.at(-1)?.table.publicView;
  const evaluated = finals(record);
  if (view === undefined || evaluated.size === 0) return [];
  const { edition, entries, ruleSets } = record.setting;
  const litCounts = ruleSets.includes(RuleSet.PROFESSIONAL);
  const points = (name: AwardKind) => entries.map((_, seat) => pointsOf(evaluated.get(seat), name));
  const awards: FinalAward[] = edition.colours.map(({ colour, highestTower }) => ({
    name: colour,
    prizes: highestTower,
    towers: highest(view, litCounts, colour),
    points: points(colour),
  }));
  awards.push(
    {
      name: "highest",
      prizes: edition.highestTower,
      towers: highest(view, litCounts),
      points: points("highest"),
    },
    {
      name: "most",
      prizes: edition.mostTowers,
      towers: most(view, litCounts),
      points: points("most"),
    },
    { name: "money", prizes: undefined, towers: [], points: points("money") },
  );
  return awards;
}

function pointsOf(event: Event | undefined, name: AwardKind): number {
  if (event?.event.case !== "finalEvaluated") return 0;
  const { colours, highestTower, mostTowers, asari } = event.event.value;
  if (name === "highest") return highestTower;
  if (name === "most") return mostTowers;
  if (name === "money") return asari;
  return colours.find(({ colour }) => colour === name)?.prestige ?? 0;
}

function highest(view: PublicView, litCounts: boolean, colour?: Colour): PlacedTower[] {
  const towers = view.seats.flatMap(({ seat, towers }) =>
    towers
      .filter((tower) => colour === undefined || tower.colour === colour)
      .map((tower) => ({ seat, tower })),
  );
  const [first, second] = places(
    towers,
    (a, b) =>
      towerHeight(b.tower) - towerHeight(a.tower) ||
      (litCounts ? litWindows(b.tower) - litWindows(a.tower) : 0),
  );
  const placed = (some: typeof towers, place: 1 | 2) =>
    some.map((tower) => ({ ...tower, place, tied: some.length > 1 }));
  return [...placed(first, 1), ...placed(second, 2)];
}

function most(view: PublicView, litCounts: boolean): PlacedTower[] {
  const seats = view.seats
    .filter(({ towers }) => towers.length > 0)
    .map(({ seat, towers }) => ({
      seat,
      towers,
      lit: towers.reduce((sum, tower) => sum + litWindows(tower), 0),
    }));
  const [first, second] = places(
    seats,
    (a, b) => b.towers.length - a.towers.length || (litCounts ? b.lit - a.lit : 0),
  );
  const placed = (some: typeof seats, place: 1 | 2) =>
    some.flatMap(({ seat, towers }) =>
      towers.map((tower) => ({ seat, tower, place, tied: some.length > 1 })),
    );
  return [...placed(first, 1), ...placed(second, 2)];
}

export type RowName =
  | "built"
  | "gifts"
  | "towers"
  | "gold"
  | "litWindows"
  | "patronage"
  | AwardKind;

/** Prestige of one source, by seat. */
export interface Row {
  readonly name: RowName;
  readonly points: readonly number[];
}

/** Rows that belong together: a year's evaluation, or the final one. */
export interface RowGroup {
  /** Number of the year; undefined for the other groups. */
  readonly year?: number;
  readonly kind: "play" | "year" | "final";
  readonly rows: readonly Row[];
  readonly sums: readonly number[];
}

/** Where the prestige of each seat came from, up to a moment. The sums add up to the prestige. */
export function ledger(record: MatchRecord, position: number): readonly RowGroup[] {
  const seats = record.setting.entries.length;
  const groups = new Map<
    string,
    { group: Omit<RowGroup, "rows" | "sums">; rows: Map<RowName, number[]> }
  >();
  const add = (
    group: Omit<RowGroup, "rows" | "sums">,
    name: RowName,
    seat: number,
    points: number,
  ) => {
    const key = `${group.kind} ${group.year ?? ""}`;
    const entry = groups.get(key) ?? { group, rows: new Map<RowName, number[]>() };
    groups.set(key, entry);
    const row = entry.rows.get(name) ?? new Array<number>(seats).fill(0);
    entry.rows.set(name, row);
    row[seat] = (row[seat] ?? 0) + points;
  };
  let year = record.moments[0]?.table.publicView.year ?? 0;
  const play = { kind: "play" as const };
  for (const { events } of record.moments.slice(0, position + 1)) {
    for (const { seat, prestige, event } of events) {
      if (event.case === "yearStarted") year = event.value.year;
      else if (event.case === "yearEvaluated") {
        const { towers, gold, litWindows, patronage } = event.value;
        const lit = record.setting.ruleSets.includes(RuleSet.PROFESSIONAL);
        const parts = { towers, gold, ...(lit && { litWindows }), patronage };
        for (const [name, points] of Object.entries(parts)) {
          add({ kind: "year", year }, name as keyof typeof parts, seat, points);
        }
      } else if (event.case === "finalEvaluated") {
        const { colours, highestTower, mostTowers, asari } = event.value;
        for (const { colour } of record.setting.edition.colours) {
          const earned = colours.find((entry) => entry.colour === colour);
          add({ kind: "final" }, colour, seat, earned?.prestige ?? 0);
        }
        add({ kind: "final" }, "highest", seat, highestTower);
        add({ kind: "final" }, "most", seat, mostTowers);
        add({ kind: "final" }, "money", seat, asari);
      } else if (prestige !== 0) {
        add(play, event.case === "giftTaken" ? "gifts" : "built", seat, prestige);
      }
    }
  }
  return [...groups.values()].map(({ group, rows }) => ({
    ...group,
    rows: [...rows].map(([name, points]) => ({ name, points })),
    sums: Array.from({ length: seats }, (_, seat) =>
      [...rows.values()].reduce((sum, points) => sum + (points[seat] ?? 0), 0),
    ),
  }));
}
