/** Places in a match that one jumps to: turns, years, builds, awards, faults, decisions. */

import type { MatchRecord } from "../match/model.js";
import { awards, builds, faults, turns, years } from "../match/places.js";

/** Indices of moments, ascending. */
type Indices = readonly number[];

export interface Landmarks {
  /** Moments in which a year begins. */
  readonly years: Indices;
  /** Moments in which a turn begins. */
  readonly turns: Indices;
  readonly builds: Indices;
  /** Evaluations. */
  readonly awards: Indices;
  /** Rejected replies and forfeits. */
  readonly faults: Indices;
  /** Decisions that certainly cost something. */
  readonly mistakes: Indices;
  /** Draws that certainly helped or hurt a seat. */
  readonly luck: Indices;
  /** Moments that answer a decision, by seat. */
  readonly decisions: readonly Indices[];
}

export type Jump = "turns" | "years" | "builds" | "awards" | "faults" | "mistakes" | "luck";

type Places = readonly { readonly at: number }[];

/** `analysed` are the marks of an analysis, if one is shown. */
export function landmarksOf(
  record: MatchRecord,
  analysed?: { readonly marks: Places; readonly strokes: Places },
): Landmarks {
  const decisions: number[][] = record.setting.entries.map(() => []);
  for (const { decision, index } of record.moments) {
    if (decision !== undefined) decisions[decision.seat]?.push(index);
  }
  return {
    years: years(record).map(({ first }) => first),
    turns: turns(record).map(({ first }) => first),
    builds: builds(record),
    awards: awards(record),
    faults: faults(record),
    mistakes: indices(analysed?.marks),
    luck: indices(analysed?.strokes),
    decisions,
  };
}

function indices(places: Places = []): Indices {
  return [...new Set(places.map(({ at }) => at))].sort((a, b) => a - b);
}

/** The next index after `position`, or the last one before it; undefined if there is none. */
export function neighbour(indices: Indices, position: number, forward: boolean) {
  return forward
    ? indices.find((index) => index > position)
    : indices.findLast((index) => index < position);
}
