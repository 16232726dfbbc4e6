import { toBinary } from "@bufbuild/protobuf";
import { ActionSchema } from "asara/gen/vocabulary_pb.js";
import { afterEach, expect, test } from "vitest";
import type { Analysis, Mark } from "../../src/match/analysis.js";
import type { MatchRecord, Viewer } from "../../src/match/model.js";
import {
  betterAt,
  decisive,
  expectedAt,
  markSentence,
  notesAt,
  placed,
} from "../../src/replay/analysis/analysed.js";
import { landmarksOf } from "../../src/replay/landmarks.js";
import * as players from "../../src/replay/player.js";
import { LANGUAGES } from "../../src/words/catalogue.js";
import { language } from "../../src/words/language.js";
import { sampleRecord } from "../samples.js";

const OPEN = sampleRecord("basic-2");
const SEAT: Viewer = { kind: "seat", seat: 1 };

/** Every sixth decision is marked; the first action that was not chosen would have been better. */
function analysisOf(record: MatchRecord): Analysis {
  const marks = record.moments.flatMap(({ decision, index }, order): Mark[] => {
    const [, other] = decision?.legalActions ?? [];
    if (decision === undefined || other === undefined || order % 6 > 0) return [];
    const bytes = toBinary(ActionSchema, other);
    return [
      {
        seat: decision.seat,
        decision: Number(decision.decisionId),
        sequence: record.moments[index - 1]?.sequence ?? 0,
        year: 1,
        label: "mistake",
        cost: [0.1 + order / 1000, 0.02],
        better: btoa(String.fromCharCode(...bytes)),
      },
    ];
  });
  const sums = record.setting.entries.map((_, seat) => ({
    seat,
    lost: [0.2, 0.1] as const,
    marks: 2,
    luck: [0.05, 0.01] as const,
  }));
  return {
    marks,
    sums,
    course: marks.map(({ seat, sequence }) => ({ seat, sequence, expected: [0.4, 0.1] })),
    strokes: [{ seat: 0, sequence: 60, draw: "year", gained: [-0.06, 0.02] }],
  };
}

const ANALYSIS = analysisOf(OPEN);

afterEach(() => {
  language.value = "en";
});

test("a mark is where its decision is answered, and for everybody where its effect shows", () => {
  const { marks } = placed(ANALYSIS, OPEN);
  expect(marks.length).toBeGreaterThan(9);
  for (const { at, seat, decision } of marks) {
    expect(OPEN.moments[at]?.decision).toMatchObject({ seat, decisionId: BigInt(decision) });
  }
  const everybody = sampleRecord("basic-2", { kind: "everybody" });
  for (const { at, sequence, action } of placed(ANALYSIS, everybody).marks) {
    expect(everybody.moments[at]?.sequence).toBeGreaterThan(sequence);
    expect(everybody.moments[at - 1]?.sequence).toBeLessThanOrEqual(sequence);
    expect(action).toBeUndefined();
  }
});

test("the view of a seat shows nothing that the seat could not know", () => {
  const shown = placed(ANALYSIS, sampleRecord("basic-2", SEAT));
  expect(shown.course.map(({ length }) => length > 0)).toEqual([false, true]);
  expect(new Set(shown.marks.map(({ seat }) => seat))).toEqual(new Set([1]));
  expect(shown.strokes).toEqual([]);
  expect(shown.sums).toEqual([{ seat: 1, lost: [0.2, 0.1], marks: 2, luck: null }]);
});

test("a jump leads from mark to mark, and without an analysis nowhere", () => {
  const analysed = placed(ANALYSIS, OPEN);
  const course = { length: OPEN.moments.length, over: true };
  let player = players.newPlayer({ speed: 1, spoilerFree: false });
  const marks = landmarksOf(OPEN, analysed);
  const found: number[] = [];
  for (;;) {
    const next = players.jump(player, "mistakes", true, marks, course);
    if (next === undefined) break;
    player = next;
    found.push(player.position);
  }
  expect(found).toEqual(analysed.marks.map(({ at }) => at));
  expect(players.jump(player, "luck", false, marks, course)?.position).toBe(
    analysed.strokes[0]?.at,
  );
  expect(players.jump(player, "mistakes", false, landmarksOf(OPEN), course)).toBeUndefined();
});

test("what would have been better is said in every language, and shown on the board", () => {
  const analysed = placed(ANALYSIS, OPEN);
  const [first] = analysed.marks;
  if (first === undefined) throw new Error("no mark");
  expect(markSentence(first, OPEN)).toMatch(/: mistake\. Better: [a-z].*, \+0\.1\d\s±\s0\.02\.$/);
  for (const tag of LANGUAGES) {
    language.value = tag;
    for (let at = 0; at < OPEN.moments.length; at++) {
      for (const note of notesAt(analysed, at, OPEN)) expect(note).not.toMatch(/undefined|[{}]/);
    }
  }
  const moment = OPEN.moments[first.at];
  expect(moment && betterAt(analysed, moment)).toMatchObject({ seat: first.seat });
  expect(OPEN.moments[0] && betterAt(analysed, OPEN.moments[0])).toBeUndefined();
});

test("without the seat's decisions, a sentence says only what it cost", () => {
  const everybody = sampleRecord("basic-2", { kind: "everybody" });
  const { marks } = placed(ANALYSIS, everybody);
  expect(marks[0] && markSentence(marks[0], everybody)).toMatch(/: mistake, -0\.1\d\s±\s0\.02\.$/);
});

test("the dearest decisions come first, then the largest stroke of luck", () => {
  const found = decisive(placed(ANALYSIS, OPEN));
  const costs = ANALYSIS.marks.map(({ cost }) => cost[0]).sort((a, b) => b - a);
  expect(found.map((one) => ("cost" in one ? one.cost[0] : one.gained[0]))).toEqual([
    ...costs.slice(0, 3),
    -0.06,
  ]);
});

test("the score at a moment is the last one that was estimated", () => {
  const analysed = placed(ANALYSIS, OPEN);
  expect(expectedAt(analysed, 0)).toEqual([undefined, undefined]);
  expect(expectedAt(analysed, OPEN.moments.length)).toEqual([
    [0.4, 0.1],
    [0.4, 0.1],
  ]);
});
