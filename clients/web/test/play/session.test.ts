import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { EventSchema } from "asara/gen/event_pb.js";
import {
  ClocksSchema,
  DecisionKind,
  type PlayRequest,
  PlayResponseSchema,
  RejectionReason,
} from "asara/gen/play_pb.js";
import { PreviewEnd, PreviewResponseSchema } from "asara/gen/preview_pb.js";
import { ViewSchema } from "asara/gen/view_pb.js";
import { type Action, ActionSchema, Area, BuyerColour, RuleSet } from "asara/gen/vocabulary_pb.js";
import { describe, expect, test } from "vitest";
import { namesBySeat, parseLink, type SeatLink } from "../../src/play/link.js";
import type { Session } from "../../src/play/session.js";
import * as sessions from "../../src/play/session.js";

const LINK: SeatLink = {
  token: "secret",
  names: ["you", "greedy"],
  me: 0,
  run: "played",
  last: "r1-basic-0001",
};
const NONCE = new Uint8Array(32).fill(7);

const bank = (number: number): Action =>
  create(ActionSchema, {
    action: { case: "chooseSpace", value: { space: { area: Area.BANK, number } } },
  });
const lay = (...buyers: BuyerColour[]): Action =>
  create(ActionSchema, {
    action: { case: "layBuyers", value: { buyers, faceDown: buyers.length > 1 } },
  });
const search = create(ActionSchema, { action: { case: "searchPile", value: { kind: 1 } } });

function view(asari: number, turnSeat = 0) {
  return create(ViewSchema, {
    publicView: {
      year: 1,
      turnSeat,
      seats: [
        { seat: 0, handSize: 9 },
        { seat: 1, handSize: 9 },
      ],
    },
    privateView: { seat: 0, asari, hand: [BuyerColour.BLUE, BuyerColour.GREEN] },
  });
}

const dispatched = (seat: number) =>
  create(EventSchema, {
    seat,
    event: {
      case: "buyersDispatched",
      value: { space: { area: Area.BANK, number: 6 + seat }, colour: BuyerColour.BLUE, count: 1 },
    },
  });
const funds = (seat: number) =>
  create(EventSchema, {
    seat,
    asari: 6,
    event: { case: "fundsTaken", value: { space: { area: Area.BANK, number: 6 } } },
  });

type Response = NonNullable<MessageInitShape<typeof PlayResponseSchema>["response"]>;

function result(session: Session, response: Response): sessions.Result {
  return sessions.receive(session, create(PlayResponseSchema, { response }), () => NONCE);
}

const take = (session: Session, response: Response): Session => result(session, response).session;

const started = (matchId = "m1", resumed = false, sequence = 10n): Response => ({
  case: "matchStarted",
  value: {
    matchId,
    seat: 0,
    seats: 2,
    ruleSets: [RuleSet.BASIC],
    edition: { years: 4 },
    view: view(20),
    sequence,
    resumed,
  },
});

const decision = (decisionId = 1n, sequence = 10n): Response => ({
  case: "decision",
  value: {
    matchId: "m1",
    decisionId,
    kind: DecisionKind.SPACE,
    legalActions: [bank(6), bank(8)],
    sequence,
    view: view(20),
  },
});

const asked = (): Session => take(take(sessions.newSession(LINK), started()), decision());

const laying = create(PreviewResponseSchema, {
  next: {
    case: "decision",
    value: {
      kind: DecisionKind.BUYERS,
      legalActions: [lay(BuyerColour.BLUE), lay(BuyerColour.GREEN)],
      view: view(19),
    },
  },
});
const turnOver = create(PreviewResponseSchema, {
  next: { case: "end", value: PreviewEnd.TURN },
  view: view(26),
});

function chosen(session: Session, action: Action, response = laying): Session {
  const next = sessions.choose(session, action);
  const step = next.steps.at(-1);
  if (step === undefined) throw new Error("no step");
  return sessions.foresee(next, step, response);
}

const collected = (): Session => chosen(chosen(asked(), bank(6)), lay(BuyerColour.BLUE), turnOver);

function replyOf(request: PlayRequest | undefined) {
  if (request?.request.case !== "reply") throw new Error("no reply");
  return request.request.value;
}

describe("the link", () => {
  test("holds token, names, run and last match; others are refused", () => {
    const fragment = "#token=a-b&seats=you%2Cgreedy&me=0&run=played&last=r1-basic-0001";
    expect(parseLink(fragment)).toEqual({ ...LINK, token: "a-b" });
    expect(parseLink("#seats=you")).toBeUndefined();
    expect(parseLink("#token=x&me=7")).toEqual({
      token: "x",
      names: [],
      me: 0,
      run: "",
      last: "",
    });
  });

  test("says who sits where, as all move on by one seat after each match", () => {
    const link = { ...LINK, names: ["you", "a", "b"] };
    expect(namesBySeat(link, 0, 3)).toEqual(["you", "a", "b"]);
    expect(namesBySeat(link, 1, 3)).toEqual(["b", "you", "a"]);
    expect(namesBySeat(link, 0, 2)).toEqual(["", ""]);
  });
});

describe("a turn", () => {
  test("is collected step by step, and sent as one reply", () => {
    const session = collected();
    expect(sessions.openDecision(session)).toBeUndefined();
    expect(sessions.isReady(session)).toBe(true);
    const { session: sent, request } = sessions.send(session);
    const { matchId, decisionId, actions } = replyOf(request);
    expect([matchId, decisionId, actions]).toEqual(["m1", 1n, [bank(6), lay(BuyerColour.BLUE)]]);
    expect(sessions.isReady(sent)).toBe(false);
    expect(sessions.send(sent).request).toBeUndefined();
    expect(sessions.openDecision(sent)).toBeUndefined();
  });

  test("takes legal actions only", () => {
    const session = asked();
    expect(sessions.choose(session, bank(12))).toBe(session);
    expect(sessions.choose(collected(), bank(6)).steps).toHaveLength(2);
  });

  test("cannot be sent while something can be decided", () => {
    const session = chosen(asked(), bank(6));
    expect(sessions.openDecision(session)?.kind).toBe(DecisionKind.BUYERS);
    expect(sessions.isReady(session)).toBe(false);
    expect(sessions.send(session).request).toBeUndefined();
  });

  test("is taken back step by step, or from a step on", () => {
    const session = collected();
    expect(sessions.undo(session).steps).toHaveLength(1);
    expect(sessions.undo(session, 0).steps).toHaveLength(0);
    expect(sessions.undo(sessions.undo(sessions.undo(session))).steps).toHaveLength(0);
    expect(sessions.openDecision(sessions.undo(session, 0))?.legalActions).toHaveLength(2);
  });

  test("ignores a preview that comes after its step was taken back", () => {
    const first = sessions.choose(asked(), bank(6));
    const [step] = first.steps;
    if (step === undefined) throw new Error("no step");
    const other = sessions.choose(sessions.undo(first), bank(8));
    expect(sessions.foresee(other, step, turnOver)).toBe(other);
  });

  test("is sent before what is hidden, and if the server cannot tell", () => {
    const hidden = create(PreviewResponseSchema, {
      next: { case: "end", value: PreviewEnd.HIDDEN },
    });
    const searching = take(asked(), {
      case: "decision",
      value: { matchId: "m1", decisionId: 2n, legalActions: [search], view: view(20) },
    });
    const session = chosen(searching, search, hidden);
    expect(session.steps[0]?.next.kind).toBe("hidden");
    expect(sessions.isReady(session)).toBe(true);
    const [step] = sessions.choose(searching, search).steps;
    const asking = sessions.choose(searching, search);
    if (step === undefined) throw new Error("no step");
    const unknown = sessions.foresee(asking, asking.steps[0] ?? step, undefined);
    expect(unknown.steps[0]?.next.kind).toBe("unknown");
    expect(sessions.isReady(unknown)).toBe(true);
  });

  test("shows the table as it would be", () => {
    const session = collected();
    const shown = sessions.tentative(session);
    expect(shown?.table.privateViews[0]?.asari).toBe(26);
    expect(sessions.tentative(sessions.undo(session))?.table.privateViews[0]?.asari).toBe(19);
    expect(sessions.tentative(asked())?.table.privateViews[0]?.asari).toBe(20);
    expect(shown?.table.privateViews[1]).toBeUndefined();
  });
});

describe("the referee's messages", () => {
  test("a match begins with its table and the names", () => {
    const session = take(sessions.newSession(LINK), started());
    expect(session.stage).toBe("playing");
    expect(session.complete).toBe(true);
    expect(session.setting?.entries).toEqual(["you", "greedy"]);
    expect(session.moments).toHaveLength(1);
  });

  test("the own turn comes back as events, and the steps are over", () => {
    const { session: sent } = sessions.send(collected());
    const session = take(sent, {
      case: "update",
      value: { matchId: "m1", events: [dispatched(0), funds(0)], sequence: 12n },
    });
    expect(session.steps).toEqual([]);
    expect(session.decision).toBeUndefined();
    expect(session.moments.at(-1)?.table.privateViews[0]?.asari).toBe(26);
    expect(sessions.isOwn(session, session.moments.length - 1)).toBe(true);
    const later = take(session, {
      case: "update",
      value: { matchId: "m1", events: [dispatched(1), funds(1)], sequence: 14n },
    });
    expect(sessions.isOwn(later, later.moments.length - 1)).toBe(false);
  });

  test("events that are known already are passed over", () => {
    const update: Response = {
      case: "update",
      value: { matchId: "m1", events: [dispatched(1), funds(1)], sequence: 12n },
    };
    const once = take(take(sessions.newSession(LINK), started()), update);
    expect(take(once, update).moments).toEqual(once.moments);
    expect(once.moments.at(-1)?.sequence).toBe(12);
  });

  test("a rejected reply empties the turn, says why, and the decision stays open", () => {
    const { session: sent } = sessions.send(collected());
    const session = take(sent, {
      case: "rejection",
      value: {
        matchId: "m1",
        decisionId: 1n,
        reason: RejectionReason.ILLEGAL_ACTION,
        legalActions: [bank(8)],
      },
    });
    expect(session.rejection?.reason).toBe(RejectionReason.ILLEGAL_ACTION);
    expect(session.steps).toEqual([]);
    expect(sessions.openDecision(session)?.legalActions).toEqual([bank(8)]);
    expect(sessions.choose(session, bank(8)).rejection).toBeUndefined();
  });

  test("messages of another match are ignored", () => {
    const session = asked();
    const other = { matchId: "m2", events: [dispatched(1)], sequence: 11n };
    expect(take(session, { case: "update", value: other })).toBe(session);
    expect(take(session, { case: "matchEnded", value: other })).toBe(session);
  });

  test("a match ends, and another can follow", () => {
    const over = take(asked(), {
      case: "matchEnded",
      value: { matchId: "m1", events: [], sequence: 10n, results: [{ seat: 0, rank: 1 }] },
    });
    expect(over.stage).toBe("over");
    expect(over.ended?.results[0]?.rank).toBe(1);
    expect(take(over, { case: "goodbye", value: {} }).stage).toBe("over");
    const cut = take(asked(), { case: "matchEnded", value: { matchId: "m1", void: true } });
    expect(take(cut, { case: "goodbye", value: {} }).stage).toBe("closed");
    const next = sessions.again(over);
    expect(next.stage).toBe("waiting");
    expect(take(next, started("m2")).moments).toHaveLength(1);
  });

  test("goodbye before a match closes the seat", () => {
    const session = sessions.newSession(LINK);
    expect(take(session, { case: "goodbye", value: {} }).stage).toBe("closed");
  });

  test("a joint deal is given its nonce", () => {
    const { request } = result(sessions.newSession(LINK), {
      case: "dealCommitted",
      value: { matchId: "m1" },
    });
    expect(request?.request.case === "nonce" && request.request.value.nonce).toEqual(NONCE);
  });
});

describe("a broken connection", () => {
  const helloOf = (session: Session) => {
    const { request } = sessions.helloOf(session);
    if (request.case !== "hello") throw new Error("no hello");
    return request.value;
  };

  test("hello names the last event of a running match alone", () => {
    expect(helloOf(sessions.newSession(LINK)).lastEvents).toEqual([]);
    expect(helloOf(asked())).toMatchObject({
      token: "secret",
      liveUpdates: true,
      lastEvents: [{ matchId: "m1", sequence: 10n }],
    });
  });

  test("a turn that was not sent is still there", () => {
    const resumed = take(take(chosen(asked(), bank(6)), started("m1", true)), decision());
    expect(resumed.steps).toHaveLength(1);
    expect(resumed.moments).toHaveLength(1);
  });

  test("a turn that was lost is sent again", () => {
    const { session: sent } = sessions.send(collected());
    const { session, request } = result(take(sent, started("m1", true)), decision());
    expect(replyOf(request).actions).toEqual([bank(6), lay(BuyerColour.BLUE)]);
    expect(sessions.openDecision(session)).toBeUndefined();
  });

  test("a turn that arrived is over, and the next decision has no steps", () => {
    const { session: sent } = sessions.send(collected());
    const { session, request } = result(sent, decision(2n, 10n));
    expect(request).toBeUndefined();
    expect(session.steps).toEqual([]);
    expect(sessions.openDecision(session)?.decisionId).toBe(2n);
  });

  test("a page that is loaded again joins in the middle", () => {
    const session = take(sessions.newSession(LINK), started("m1", true, 200n));
    expect(session.complete).toBe(false);
    expect(session.moments.at(-1)?.sequence).toBe(200);
  });
});

test("a clock is shown only if somebody can lose on time", () => {
  const clocked = (bankUs: bigint): Session => {
    const session = take(sessions.newSession(LINK), started());
    if (session.started === undefined) throw new Error("no match");
    const clocks = create(ClocksSchema, { bankUs });
    return { ...session, started: { ...session.started, clocks } };
  };
  expect(sessions.hasClock(clocked(60_000_000n))).toBe(true);
  expect(sessions.hasClock(clocked(100_000_000_000_000n))).toBe(false);
});
