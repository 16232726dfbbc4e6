import { create } from "@bufbuild/protobuf";
import { type Action, ActionSchema, BuyerColour, Colour } from "asara/gen/vocabulary_pb.js";
import { expect, test } from "vitest";
import { type Ending, endingOf } from "../../src/match/reconnecting-socket.js";
import { besideBoard, nextTargets, pick } from "../../src/play/choosing.js";
import { isClosed, mayReturn } from "../../src/play/connection.js";

const { BLUE, GREEN, YELLOW } = BuyerColour;
const lay = (faceDown: boolean, ...buyers: BuyerColour[]): Action =>
  create(ActionSchema, { action: { case: "layBuyers", value: { buyers, faceDown } } });
const keep = (...colours: Colour[]): Action =>
  create(ActionSchema, { action: { case: "keepLitWindows", value: { colours } } });
const count = (number: number): Action =>
  create(ActionSchema, { action: { case: "buildCount", value: { count: number } } });
const decline = create(ActionSchema, { action: { case: "decline", value: {} } });
const take = create(ActionSchema, {
  action: { case: "takeSection", value: { section: { kind: 1, colour: 2, gold: false } } },
});

const ONE = lay(false, BLUE);
const SAME = lay(true, BLUE, BLUE);
const MIXED = lay(true, BLUE, YELLOW);
const LAYS = [ONE, SAME, MIXED];

test("a click on what one action uses chooses it", () => {
  expect(pick([lay(false, BLUE), lay(false, GREEN)], [], "hand 3")).toEqual({ picked: [] });
  expect(pick([lay(false, BLUE), lay(false, GREEN)], [], `hand ${GREEN}`)).toEqual({
    action: lay(false, GREEN),
  });
  expect(pick([take, decline], [], "display 1 2 0")).toEqual({ action: take });
});

test("of several actions, the next click or a button chooses", () => {
  const first = pick(LAYS, [], `hand ${BLUE}`);
  expect(first).toEqual({ picked: [`hand ${BLUE}`] });
  expect(besideBoard(LAYS, [`hand ${BLUE}`])).toEqual(LAYS);
  expect(pick(LAYS, [`hand ${BLUE}`], `hand ${YELLOW}`)).toEqual({ action: MIXED });
  expect(pick(LAYS, [`hand ${BLUE}`], `hand ${BLUE}`)).toEqual({ action: SAME });
  expect([...nextTargets(LAYS, [`hand ${BLUE}`]).keys()]).toEqual([
    `hand ${BLUE}`,
    `hand ${YELLOW}`,
  ]);
});

test("a second click puts back what no action uses twice", () => {
  const lays = [ONE, MIXED];
  expect(pick(lays, [`hand ${BLUE}`], `hand ${BLUE}`)).toEqual({ picked: [] });
});

test("another thing takes the place of the one picked before", () => {
  const lays = [
    lay(true, BLUE, BLUE),
    lay(false, BLUE),
    lay(true, GREEN, GREEN),
    lay(false, GREEN),
  ];
  expect(pick(lays, [`hand ${BLUE}`], `hand ${GREEN}`)).toEqual({ picked: [`hand ${GREEN}`] });
});

test("several lit windows are picked one after the other", () => {
  const { RED, WHITE, BROWN } = Colour;
  const keeps = [keep(BROWN, RED), keep(BROWN, WHITE), keep(RED, WHITE)];
  expect(pick(keeps, [], `lit ${RED}`)).toEqual({ picked: [`lit ${RED}`] });
  expect(pick(keeps, [`lit ${RED}`], `lit ${WHITE}`)).toEqual({ action: keeps[2] });
});

test("choices without a place are buttons, and those on the board are not", () => {
  expect(besideBoard([take, decline], [])).toEqual([decline]);
  expect(besideBoard([count(2), count(3)], [])).toEqual([count(2), count(3)]);
  expect(besideBoard(LAYS, [])).toEqual([]);
});

test("close codes say whether to connect again", () => {
  const returns = (code: number, text: string) => {
    const ending = endingOf(code, text);
    return ending === undefined || mayReturn(ending);
  };
  expect(endingOf(1006, "")).toBeUndefined();
  expect(endingOf(1012, "")).toBeUndefined();
  expect(returns(4014, "the connection to the referee broke")).toBe(true);
  expect(returns(4008, "too-many-streams: later")).toBe(true);
  expect(returns(4014, "stopping: the referee is stopping")).toBe(false);
  expect(returns(4016, "unknown-token: no such token")).toBe(false);
  expect(returns(4000, "")).toBe(false);
  const replaced = { status: 10, retryable: false, reason: "replaced", detail: "a new stream" };
  expect(endingOf(4010, "replaced: a new stream")).toEqual(replaced);
});

test("close codes say whether the table is closed", () => {
  const closed = (code: number, text: string) => isClosed(endingOf(code, text) as Ending);
  expect(closed(4014, "stopping: the referee is stopping")).toBe(true);
  expect(closed(4005, "no match is played at this server")).toBe(true);
  expect(closed(4000, "")).toBe(true);
  expect(closed(4010, "replaced: a new stream")).toBe(false);
});
