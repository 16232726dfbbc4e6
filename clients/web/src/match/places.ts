/** Places in a match: years, turns, builds and decisions by the indices of their moments. */

import { equals } from "@bufbuild/protobuf";
import { type Event, EventSchema, Termination } from "asara/gen/event_pb.js";
import { DecisionKind, RejectionReason } from "asara/gen/play_pb.js";
import type { ReplayDecision } from "asara/gen/replay_view_pb.js";
import { ActionSchema } from "asara/gen/vocabulary_pb.js";
import type { MatchRecord, Moment } from "./model.js";

/** Indices of moments, both included. */
export interface Range {
  readonly first: number;
  readonly last: number;
}

export interface Year extends Range {
  readonly year: number;
}

export interface Turn extends Range {
  readonly seat: number;
  readonly year: number;
}

/** Returns the years; one that has been evaluated includes its evaluation. */
export function years({ moments }: MatchRecord): Year[] {
  const starts = moments.filter((moment) => has(moment, "yearStarted"));
  return starts.map(({ index, table }, number) => ({
    year: table.publicView.year,
    first: number === 0 ? 0 : index,
    last: (starts[number + 1]?.index ?? moments.length) - 1,
  }));
}

/** Returns the turns; the evaluation and the beginning of a year belong to no turn. */
export function turns({ moments }: MatchRecord): Turn[] {
  const found: Turn[] = [];
  let first = -1; // of the decisions that come before the dispatch of the next turn
  let open: Turn | undefined;
  const close = (last: number) => {
    if (open !== undefined) found.push({ ...open, last });
    open = undefined;
  };
  for (const moment of moments) {
    const { index, events, decision, table } = moment;
    const dispatch = events.find(({ event }) => event.case === "buyersDispatched");
    if (BREAKS.some((kind) => has(moment, kind))) {
      close(index - 1);
      first = -1;
    } else if (dispatch !== undefined) {
      close(first < 0 ? index - 1 : first - 1);
      const { year } = table.publicView;
      open = { seat: dispatch.seat, year, first: first < 0 ? index : first, last: index };
      first = -1;
    } else if (events.length === 0 && decision !== undefined && opensTurn(moment)) {
      if (first < 0) first = index;
    }
  }
  close(first < 0 ? moments.length - 1 : first - 1);
  return found;
}

const BREAKS = ["yearStarted", "yearEvaluated", "finalEvaluated", "seatForfeited"] as const;
type EventCase = Event["event"]["case"];

/** Decisions SPACE and BUYERS come before the dispatch, which is the first event of a turn. */
function opensTurn({ decision }: Moment): boolean {
  return decision?.kind === DecisionKind.SPACE || decision?.kind === DecisionKind.BUYERS;
}

/** Returns the indices of the moments with an event of one of these kinds. */
function momentsWith(record: MatchRecord, ...kinds: readonly EventCase[]): number[] {
  return record.moments
    .filter((moment) => kinds.some((kind) => has(moment, kind)))
    .map(({ index }) => index);
}

/** Returns the seat that decided or moved in a moment; undefined where the game goes on by itself. */
export function actingSeat({ decision, events }: Moment): number | undefined {
  return decision?.seat ?? movingSeat(events);
}

/** Returns the seat whose move the events are; undefined where the game goes on by itself. */
export function movingSeat(events: readonly Event[]): number | undefined {
  return events.find(({ event }) => !ITSELF.has(event.case))?.seat;
}

/** Returns true if no action of a reply was applied. */
export function isUnanswered(decision: ReplayDecision): boolean {
  return decision.actions.length === 0 || decision.rejection !== RejectionReason.UNSPECIFIED;
}

/** Returns the seat that forfeited at a moment. */
export function forfeitedSeat({ events }: Pick<Moment, "events">): number | undefined {
  return events.find(({ event }) => event.case === "seatForfeited")?.seat;
}

const ITSELF: ReadonlySet<EventCase> = new Set<EventCase>([
  "yearStarted",
  "incomeReceived",
  "displayFilled",
  "giftLaid",
  "yearEvaluated",
  "finalEvaluated",
  "seatForfeited",
]);

/** Returns the indices of the moments in which a build began. */
export function builds(record: MatchRecord): number[] {
  return momentsWith(record, "buildStarted");
}

/** Returns the indices of the evaluations. */
export function awards(record: MatchRecord): number[] {
  return momentsWith(record, "yearEvaluated", "finalEvaluated");
}

/**
 * Returns the indices of rejected replies and of forfeits. A bot that crashed between its decisions
 * left its traceback in the log of the last one, which is then a fault as well.
 */
export function faults(record: MatchRecord): number[] {
  const found = new Set<number>();
  for (const moment of record.moments) {
    const { index, events } = moment;
    if (isRejected(moment)) found.add(index);
    for (const { seat, event } of events) {
      if (event.case !== "seatForfeited") continue;
      found.add(index);
      if (event.value.termination === Termination.CRASH) {
        const last = record.moments.findLast(
          (one) => one.index <= index && one.decision?.seat === seat,
        );
        if (last?.decision?.log) found.add(last.index);
      }
    }
  }
  return [...found].sort((a, b) => a - b);
}

function isRejected({ decision }: Moment): boolean {
  return (decision?.rejection ?? 0) !== RejectionReason.UNSPECIFIED;
}

/** Returns the index of the moment that answers a decision; undefined if the viewer sees none. */
export function decisionIndex(
  record: MatchRecord,
  seat: number,
  decisionId: number,
): number | undefined {
  const answers = record.moments.filter(
    ({ decision }) => decision?.seat === seat && Number(decision.decisionId) === decisionId,
  );
  return (answers.find((moment) => !isRejected(moment)) ?? answers[0])?.index;
}

/** Returns the index of the moment in which an event happened: the last one if it has not yet. */
export function sequenceIndex({ moments }: MatchRecord, sequence: number): number {
  let low = 0;
  let high = moments.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((moments[middle]?.sequence ?? 0) >= sequence) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Moments of two matches in which they part. */
export interface Difference {
  readonly left: number;
  readonly right: number;
}

/**
 * Returns the first difference of two matches with the same deal; undefined if there is none.
 *
 * They are compared by seats, whichever entries have them: accepted actions if both records show
 * them, and events. A record that is shorter differs at its end.
 */
export function firstDifference(left: MatchRecord, right: MatchRecord): Difference | undefined {
  const shown = [left, right].every(({ setting }) => setting.viewer.kind === "open");
  const a = traces(left, shown);
  const b = traces(right, shown);
  const count = Math.max(a.length, b.length);
  for (let at = 0; at < count; at++) {
    const one = a[at];
    const other = b[at];
    if (one !== undefined && other !== undefined && sameTrace(one, other)) continue;
    return {
      left: one?.moment.index ?? left.moments.length - 1,
      right: other?.moment.index ?? right.moments.length - 1,
    };
  }
  return undefined;
}

interface Trace {
  readonly moment: Moment;
  /** An event, or undefined for the decision of the moment. */
  readonly event: Event | undefined;
}

function traces({ moments }: MatchRecord, withDecisions: boolean): Trace[] {
  return moments.flatMap((moment) => {
    const events = moment.events.map((event) => ({ moment, event }));
    if (!withDecisions || moment.decision === undefined || isRejected(moment)) return events;
    return [{ moment, event: undefined }, ...events];
  });
}

function sameTrace(a: Trace, b: Trace): boolean {
  if (a.event !== undefined) return b.event !== undefined && equals(EventSchema, a.event, b.event);
  if (b.event !== undefined) return false;
  const one = a.moment.decision;
  const other = b.moment.decision;
  if (one?.seat !== other?.seat || one?.actions.length !== other?.actions.length) return false;
  return (one?.actions ?? []).every((action, index) => {
    const same = other?.actions[index];
    return same !== undefined && equals(ActionSchema, action, same);
  });
}

function has({ events }: Moment, kind: EventCase): boolean {
  return events.some(({ event }) => event.case === kind);
}
