/** Places in a match that one jumps to: turns, years, builds, awards, faults, decisions. */

import { DecisionKind, RejectionReason } from "asara/gen/play_pb.js";
import type { MatchRecord, Moment } from "../match/model.js";

/** Indices of moments, ascending. */
type Indices = readonly number[];

export interface Landmarks {
  /** Moments in which a year begins. */
  readonly years: Indices;
  /** Moments in which at least one turn begins. */
  readonly turns: Indices;
  readonly builds: Indices;
  /** Moments with an evaluation. */
  readonly awards: Indices;
  /** Moments with a rejected reply or a forfeit. */
  readonly faults: Indices;
  /** Moments that answer a decision, by seat. */
  readonly decisions: readonly Indices[];
  /** Number of turns begun up to each moment. */
  readonly turnCounts: readonly number[];
}

export type Jump = "turns" | "years" | "builds" | "awards" | "faults";

export function rejected(moment: Moment): boolean {
  const rejection = moment.decision?.rejection ?? RejectionReason.UNSPECIFIED;
  return rejection !== RejectionReason.UNSPECIFIED;
}

export function landmarksOf({ moments, setting }: MatchRecord): Landmarks {
  const found = {
    years: [] as number[],
    turns: [] as number[],
    builds: [] as number[],
    awards: [] as number[],
    faults: [] as number[],
  };
  const decisions: number[][] = setting.entries.map(() => []);
  const turnCounts: number[] = [];
  let turns = 0;
  let chosen = false; // a space is chosen, and the buyers are not laid yet
  moments.forEach((moment, index) => {
    const names = new Set(moment.events.map(({ event }) => event.case));
    const before = turns;
    if (moment.decision?.kind === DecisionKind.SPACE && !chosen) {
      turns += 1;
      chosen = true;
    }
    for (const { event } of moment.events) {
      if (event.case !== "buyersDispatched") continue;
      if (!chosen) turns += 1;
      chosen = false;
    }
    turnCounts.push(turns);
    if (turns > before) found.turns.push(index);
    if (names.has("yearStarted")) found.years.push(index);
    if (names.has("buildStarted")) found.builds.push(index);
    if (names.has("yearEvaluated") || names.has("finalEvaluated")) found.awards.push(index);
    if (names.has("seatForfeited") || rejected(moment)) found.faults.push(index);
    if (moment.decision !== undefined) decisions[moment.decision.seat]?.push(index);
  });
  return { ...found, decisions, turnCounts };
}

/** The next index after `position`, or the last one before it; undefined if there is none. */
export function neighbour(indices: Indices, position: number, forward: boolean) {
  return forward
    ? indices.find((index) => index > position)
    : indices.findLast((index) => index < position);
}
