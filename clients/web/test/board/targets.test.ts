/** The places on the board that legal actions light. */

import { create } from "@bufbuild/protobuf";
import { type Action, ActionSchema, Area, SectionKind } from "asara/gen/vocabulary_pb.js";
import { describe, expect, test } from "vitest";
import { distance } from "../../src/board/choosing.js";
import { actionsByTarget, ON_BOARD, targetsOf } from "../../src/board/targets.js";
import { SAMPLES, sampleView } from "../samples.js";

function action(value: Action["action"]): Action {
  return create(ActionSchema, { action: value } as Partial<Action> as Action);
}

test("a space is its own target, also as a wish", () => {
  const space = { area: Area.BANK, number: 12 };
  const chosen = create(ActionSchema, { action: { case: "chooseSpace", value: { space } } });
  const wished = create(ActionSchema, { action: { case: "wish", value: { space } } });
  expect(targetsOf(chosen)).toEqual(["space 6 12"]);
  expect(targetsOf(wished)).toEqual(["space 6 12"]);
});

test("a pair of buyers lights both colours, two of one colour light it once", () => {
  const pair = create(ActionSchema, {
    action: { case: "layBuyers", value: { buyers: [1, 4], faceDown: true } },
  });
  const twins = create(ActionSchema, {
    action: { case: "layBuyers", value: { buyers: [3, 3], faceDown: true } },
  });
  expect(targetsOf(pair)).toEqual(["hand 1", "hand 4"]);
  expect(targetsOf(twins)).toEqual(["hand 3"]);
  expect([...actionsByTarget([pair, twins]).keys()]).toEqual(["hand 1", "hand 4", "hand 3"]);
});

test("a section lights in the display, or in the pile that is being searched", () => {
  const take = create(ActionSchema, {
    action: {
      case: "takeSection",
      value: { section: { kind: SectionKind.TURRET, colour: 3, gold: true } },
    },
  });
  expect(targetsOf(take)).toEqual(["display 4 3 1"]);
  expect(targetsOf(take, true)).toEqual(["searched 4 3 1"]);
});

test("an empty action lights nothing", () => {
  expect(targetsOf(action({ case: undefined }))).toEqual([]);
});

describe.each(SAMPLES)("in %s", (name) => {
  test("every legal action has a target, on the board or beside it", () => {
    const beside = new Set(["decline", "count"]);
    for (const { decision } of sampleView(name).moments) {
      for (const legal of decision?.legalActions ?? []) {
        const targets = targetsOf(legal);
        expect(targets).not.toEqual([]);
        for (const target of targets) {
          const kind = target.split(" ")[0] ?? "";
          expect(ON_BOARD.has(kind) || beside.has(kind), target).toBe(true);
        }
      }
    }
  });
});

test("an arrow key reaches what lies in its direction, the nearest first", () => {
  const right = [1, 0] as const;
  expect(distance([0, 0], [10, 0], right)).toBeLessThan(distance([0, 0], [30, 0], right));
  expect(distance([0, 0], [10, 0], right)).toBeLessThan(distance([0, 0], [10, 9], right));
  expect(distance([0, 0], [-10, 0], right)).toBe(Number.POSITIVE_INFINITY);
  expect(distance([0, 0], [1, 50], right)).toBe(Number.POSITIVE_INFINITY);
});
