/** An analysis at its places in a match as one viewer sees it, and sentences about it. */

import { fromBinary } from "@bufbuild/protobuf";
import { type Action, ActionSchema } from "asara/gen/vocabulary_pb.js";
import { type Target, targetsOf } from "../../board/targets.js";
import type { Analysis, Interval, Mark, SeatSum, Stroke } from "../../match/analysis.js";
import type { MatchRecord, Moment } from "../../match/model.js";
import { decisionIndex, sequenceIndex } from "../../match/places.js";
import { t } from "../../words/language.js";
import { interval } from "../../words/numbers.js";
import { replay } from "../../words/sections/replay.js";
import { actionsPhrase, seatName } from "../../words/sentences.js";

export interface PlacedPoint {
  /** Index of a moment. */
  readonly at: number;
  readonly expected: Interval;
}

export interface PlacedMark extends Mark {
  readonly at: number;
  /** The better action; undefined in a view without the seat's decisions. */
  readonly action: Action | undefined;
}

export interface PlacedStroke extends Stroke {
  readonly at: number;
}

/** What a viewer is shown of an analysis. */
export interface Placed {
  /** Points by seat, in order; none for seats whose knowledge is not shown. */
  readonly course: readonly (readonly PlacedPoint[])[];
  /** In order. */
  readonly marks: readonly PlacedMark[];
  readonly strokes: readonly PlacedStroke[];
  readonly sums: readonly SeatSum[];
}

/** Places an analysis; throws if it is damaged. In the view of a seat, nothing is shown that the seat could not know. */
export function placed(analysis: Analysis, record: MatchRecord): Placed {
  const { viewer, entries } = record.setting;
  const shown = entries.map((_, seat) => viewer.kind !== "seat" || viewer.seat === seat);
  const isShown = ({ seat }: { readonly seat: number }) => shown[seat] === true;
  return {
    course: entries.map((_, seat) =>
      analysis.course
        .filter((point) => point.seat === seat && isShown(point))
        .map(({ sequence, expected }) => ({ at: sequenceIndex(record, sequence), expected })),
    ),
    marks: analysis.marks
      .map(withAction)
      .filter(isShown)
      .map((mark) => ({
        ...mark,
        at:
          decisionIndex(record, mark.seat, mark.decision) ??
          sequenceIndex(record, mark.sequence + 1),
        action: viewer.kind === "everybody" ? undefined : mark.action,
      })),
    strokes: (viewer.kind === "seat" ? [] : analysis.strokes).map((stroke) => ({
      ...stroke,
      at: sequenceIndex(record, stroke.sequence),
    })),
    sums: analysis.sums
      .filter(isShown)
      .map((sum) => (viewer.kind === "seat" ? { ...sum, luck: null } : sum)),
  };
}

function withAction(mark: Mark): Mark & { readonly action: Action } {
  const bytes = Uint8Array.from(atob(mark.better), (character) => character.charCodeAt(0));
  return { ...mark, action: fromBinary(ActionSchema, bytes) };
}

/** The score that each seat could last expect at a moment; undefined before its first decision. */
export function expectedAt({ course }: Placed, at: number): readonly (Interval | undefined)[] {
  return course.map((points) => points.findLast((point) => point.at <= at)?.expected);
}

/** What would have been better at a moment: the seat and the places on the board. */
export function betterAt(
  { marks }: Placed,
  { index }: Moment,
): { readonly seat: number; readonly targets: ReadonlySet<Target> } | undefined {
  const here = marks.filter(({ at, action }) => at === index && action !== undefined);
  const [first] = here;
  if (first === undefined) return undefined;
  const targets = here.flatMap(({ action }) => (action === undefined ? [] : targetsOf(action)));
  return { seat: first.seat, targets: new Set(targets) };
}

/** One sentence about each mark and each stroke of luck of a moment. */
export function notesAt({ marks, strokes }: Placed, at: number, record: MatchRecord): string[] {
  return [
    ...marks.filter((mark) => mark.at === at).map((mark) => markSentence(mark, record)),
    ...strokes.filter((one) => one.at === at).map((one) => strokeSentence(one, record)),
  ];
}

export function markSentence(mark: PlacedMark, { setting }: MatchRecord): string {
  const name = seatName(mark.seat, setting);
  const label = t(replay, mark.label);
  const [cost, margin] = mark.cost;
  if (mark.action === undefined) {
    return t(replay, "marked", { name, label, cost: interval([-cost, margin]) });
  }
  const action = actionsPhrase([mark.action], { setting });
  return t(replay, "better", { name, label, action, gain: interval(mark.cost, true) });
}

const DRAWS = {
  deal: "dealDraw",
  year: "yearDraw",
  buyers: "buyersDraw",
  "lit windows": "litDraw",
} as const;

export function strokeSentence({ seat, draw, gained }: Stroke, { setting }: MatchRecord): string {
  return t(replay, gained[0] > 0 ? "goodLuck" : "badLuck", {
    name: seatName(seat, setting),
    draw: t(replay, DRAWS[draw]),
    gain: interval(gained, true),
  });
}

const DEAREST = 3;

/** The marks and the stroke that changed most, the largest first. */
export function decisive({ marks, strokes }: Placed): readonly (PlacedMark | PlacedStroke)[] {
  const size = (one: PlacedMark | PlacedStroke) =>
    Math.abs("cost" in one ? one.cost[0] : one.gained[0]);
  const [stroke] = [...strokes].sort((a, b) => size(b) - size(a));
  return [
    ...[...marks].sort((a, b) => size(b) - size(a)).slice(0, DEAREST),
    ...(stroke === undefined ? [] : [stroke]),
  ];
}
