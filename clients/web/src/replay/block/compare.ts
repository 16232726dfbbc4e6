/** The matches of a mirrored block in step, and where they part. */

import type { MatchRecord } from "../../match/model.js";
import { firstDifference, turns } from "../../match/places.js";

export type StepBy = "turn" | "moment";

/** For each match, the index of the moment at each step. */
export interface Steps {
  readonly count: number;
  /** Index of the moment of a match at a step; its last one if the match is shorter. */
  readonly at: (match: number, step: number) => number;
  /** The step at which a moment of a match is shown. */
  readonly stepOf: (match: number, moment: number) => number;
}

/** Steps through the matches: the set-up, the end of each turn, and the end. */
export function stepsOf(records: readonly MatchRecord[], by: StepBy): Steps {
  const places = records.map((record) => {
    const all = record.moments.map(({ index }) => index);
    if (by === "moment") return all;
    const last = all.length - 1;
    const ends = turns(record).map((turn) => turn.last);
    return [0, ...ends.filter((index) => index > 0 && index < last), last];
  });
  return {
    count: Math.max(...places.map(({ length }) => length)),
    at: (match, step) => places[match]?.[step] ?? places[match]?.at(-1) ?? 0,
    stepOf: (match, moment) => {
      const step = places[match]?.findIndex((index) => index >= moment) ?? 0;
      return step === -1 ? (places[match]?.length ?? 1) - 1 : step;
    },
  };
}

/** The moment of each match at which the first difference from any other shows; undefined if none. */
export function partings(records: readonly MatchRecord[]): readonly number[] | undefined {
  const [first, ...others] = records;
  if (first === undefined) return undefined;
  const found = others.map((other) => firstDifference(first, other));
  const lefts = found.flatMap((each) => each?.left ?? []);
  if (lefts.length === 0) return undefined;
  const left = Math.min(...lefts);
  // A match that parts from the first one later is, until then, the same as the first one.
  return [left, ...found.map((each) => (each?.left === left ? each.right : left))];
}
