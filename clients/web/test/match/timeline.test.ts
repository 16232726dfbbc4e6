import { create, equals } from "@bufbuild/protobuf";
import { type Event, EventSchema, Termination } from "asara/gen/event_pb.js";
import { RejectionReason } from "asara/gen/play_pb.js";
import { ReplayDecisionSchema, ReplayMomentSchema } from "asara/gen/replay_view_pb.js";
import { PrivateViewSchema } from "asara/gen/view_pb.js";
import { type WatchResponse, WatchResponseSchema } from "asara/gen/watch_pb.js";
import { expect, test } from "vitest";
import { MatchError } from "../../src/match/errors.js";
import type { MatchRecord } from "../../src/match/model.js";
import {
  awards,
  builds,
  decisionIndex,
  faults,
  firstDifference,
  sequenceIndex,
  turns,
  years,
} from "../../src/match/places.js";
import { restrictView } from "../../src/match/restrict.js";
import { splitSteps } from "../../src/match/steps.js";
import { LiveMatch, recordOf } from "../../src/match/timeline.js";
import { SAMPLES, type Sample, sampleRecord, sampleView } from "../samples.js";

test.each(SAMPLES)("the record of %s has every event and decision once and in order", (name) => {
  const view = sampleView(name);
  const record = recordOf(view);
  const events = view.moments.flatMap((moment) => moment.events);
  const decisions = view.moments.flatMap(({ decision }) => decision ?? []);
  expect(record.moments.flatMap((moment) => moment.events)).toEqual(events);
  expect(record.moments.flatMap(({ decision }) => decision ?? [])).toEqual(decisions);
  let sequence = 0;
  for (const [index, moment] of record.moments.entries()) {
    sequence += moment.events.length;
    expect([moment.index, moment.sequence]).toEqual([index, sequence]);
  }
  expect(record.results).toBe(view.results);
});

test.each(SAMPLES)("after every record of %s, seats know what the referee says", (name) => {
  const view = sampleView(name);
  const { moments } = recordOf(view);
  let at = -1;
  for (const { events, privateViews } of view.moments) {
    at += splitSteps(events).length;
    for (const own of privateViews) {
      expect(moments[at]?.table.privateViews[own.seat]).toBe(own);
    }
  }
  expect(at).toBe(moments.length - 1);
});

test.each(SAMPLES)(
  "also between the steps of a record of %s, money and sections add up",
  (name) => {
    const { moments } = sampleRecord(name);
    const asari: number[] = [];
    const sections: number[] = [];
    const changes: Record<string, number> = {
      sectionTaken: 1,
      towerFounded: -2,
      towerExtended: -1,
    };
    for (const { table, events } of moments) {
      for (const { seat, asari: change, event } of events) {
        asari[seat] = (asari[seat] ?? 0) + change;
        sections[seat] = (sections[seat] ?? 0) + (changes[event.case ?? ""] ?? 0);
      }
      for (const own of table.privateViews) {
        if (own === undefined) throw new Error("a hidden view in an open record");
        expect(own.asari).toBe(asari[own.seat]);
        expect(own.sections.length).toBe(sections[own.seat] ?? 0);
      }
    }
  },
);

test("the evaluation of a year and the next year are moments of their own", () => {
  const { moments } = sampleRecord("richest-4");
  const evaluated = moments.filter(({ events }) => events[0]?.event.case === "yearEvaluated");
  expect(evaluated.length).toBe(4);
  for (const { events, table, index } of evaluated.slice(0, -1)) {
    expect(events.length).toBe(4);
    expect(table.publicView.seats.every(({ handSize }) => handSize === 0)).toBe(true);
    expect(table.privateViews.every((own) => own?.hand.length === 0)).toBe(true);
    const next = moments[index + 1];
    expect(next?.events[0]?.event.case).toBe("yearStarted");
    expect(next?.table.privateViews.every((own) => (own?.hand.length ?? 0) > 0)).toBe(true);
  }
  expect(moments.at(-1)?.events.map(({ event }) => event.case)).toEqual(
    new Array(4).fill("finalEvaluated"),
  );
});

test("a forfeit is on the table from its moment on", () => {
  const record = sampleRecord("forfeit-3");
  const [first] = faults(record).filter((index) =>
    record.moments[index]?.events.some(({ event }) => event.case === "seatForfeited"),
  );
  expect(first).toBeGreaterThan(0);
  for (const { index, table } of record.moments) {
    expect(table.forfeits.filter((reason) => reason !== undefined).length).toBe(
      index >= (first ?? 0) ? 1 : 0,
    );
  }
});

test("a replay that contradicts itself is an error in words", () => {
  const view = sampleView("basic-2");
  const wrong = [
    { ...view, entries: ["one"] },
    { ...view, entries: new Array(100).fill("bot") },
    { ...view, moments: [] },
    { ...view, moments: view.moments.filter((_, index) => index !== 5) },
    { ...view, results: view.results.slice().reverse() },
    { ...view, moments: [create(ReplayMomentSchema, { sequence: 5n })] },
    {
      ...view,
      moments: [
        create(ReplayMomentSchema, { privateViews: [create(PrivateViewSchema, { seat: -1 })] }),
      ],
    },
    {
      ...view,
      moments: [
        create(ReplayMomentSchema, { decision: create(ReplayDecisionSchema, { seat: 2 }) }),
      ],
    },
    {
      ...view,
      moments: [
        create(ReplayMomentSchema, { events: [create(EventSchema, { seat: 77 })], sequence: 1n }),
      ],
    },
  ];
  for (const each of wrong) expect(() => recordOf(each)).toThrow(MatchError);
  const { edition: _, ...without } = view;
  expect(() => recordOf(without)).toThrow("without its edition");
});

// Running matches

/** The messages to a watcher of a match, with one update a turn. */
function watched(name: Sample, sequence = 0): WatchResponse[] {
  const view = restrictView(sampleView(name), { kind: "everybody" });
  const { moments } = recordOf(view);
  const { matchId, entries, ruleSets, edition, results } = view;
  const shown = moments.findLast((moment) => moment.sequence <= sequence) ?? moments[0];
  const started = {
    match: { matchId, entries, ruleSets, sequence: BigInt(shown?.sequence ?? 0) },
    ...(edition === undefined ? {} : { edition }),
    ...(shown === undefined ? {} : { publicView: shown.table.publicView }),
  };
  const updates = view.moments.map(({ events, sequence }) => ({
    case: "update" as const,
    value: { matchId, events, sequence },
  }));
  return [
    { case: "started" as const, value: started },
    ...updates,
    { case: "ended" as const, value: { results } },
  ].map((response) => create(WatchResponseSchema, { response }));
}

test.each(SAMPLES)("%s watched turn by turn is the record of everybody", (name) => {
  const whole = sampleRecord(name, { kind: "everybody" });
  const live = new LiveMatch();
  let before: MatchRecord | undefined;
  for (const message of watched(name)) {
    const record = live.receive(message);
    if (record === undefined) continue;
    for (const [index, moment] of (before?.moments ?? []).entries()) {
      expect(record.moments[index]).toBe(moment); // earlier moments stay as they are
    }
    expect(record.results === undefined).toBe(!live.over);
    before = record;
  }
  expect(live.over).toBe(true);
  expect(before?.moments).toEqual(whole.moments);
  expect(before?.results).toEqual(whole.results);
});

test("a match that was watched before goes on where it was", () => {
  const messages = watched("richest-4");
  const live = new LiveMatch();
  for (const message of messages.slice(0, 20)) live.receive(message);
  const before = live.record;
  const { sequence } = live;
  expect(before?.moments.at(-1)?.sequence).toBe(sequence);
  const [started] = watched("richest-4", sequence);
  if (started === undefined) throw new Error("no message");
  expect(live.receive(started)).toBe(before);
  for (const message of messages.slice(15)) live.receive(message); // some are known already
  expect(live.record?.moments).toEqual(sampleRecord("richest-4", { kind: "everybody" }).moments);
});

test("several turns at once are the same moments, and the table within them is checked", () => {
  const whole = sampleRecord("richest-4", { kind: "everybody" });
  const middle = whole.moments[100]?.sequence ?? 0;
  const [started] = watched("richest-4", middle);
  if (started?.response.case !== "started") throw new Error("not the start");
  const shown = Number(started.response.value.match?.sequence);
  expect(shown).toBe(middle);
  const value = {
    matchId: whole.setting.matchId,
    events: whole.moments.flatMap(({ events }) => events),
    sequence: BigInt(whole.moments.at(-1)?.sequence ?? 0),
  };
  const update = create(WatchResponseSchema, { response: { case: "update", value } });
  const live = new LiveMatch();
  live.receive(started);
  expect(live.receive(update)?.moments.at(-1)?.table).toEqual(whole.moments.at(-1)?.table);
  const forged = structuredClone(started);
  if (forged.response.case === "started" && forged.response.value.publicView) {
    forged.response.value.publicView.buyerPileSize++;
  }
  const cheated = new LiveMatch();
  cheated.receive(forged);
  expect(() => cheated.receive(update)).toThrow("do not lead to the table");
});

test("missing events, another match and another table are errors in words", () => {
  const messages = watched("richest-4");
  const begin = (...more: (WatchResponse | undefined)[]) => {
    const live = new LiveMatch();
    for (const message of [...messages.slice(0, 3), ...more]) {
      if (message !== undefined) live.receive(message);
    }
  };
  expect(() => begin(messages[4])).toThrow("Events of the match are missing");
  expect(() => begin(watched("basic-2")[0])).toThrow("instead of the one asked for");
  expect(() => new LiveMatch().receive(messages[1] as WatchResponse)).toThrow(MatchError);
  const end = sampleRecord("richest-4", { kind: "everybody" }).moments.at(-1)?.sequence ?? 0;
  const forged = structuredClone(watched("richest-4", end));
  const start = forged[0]?.response;
  if (start?.case !== "started" || start.value.publicView === undefined) throw new Error("none");
  start.value.publicView.turnSeat++;
  const live = new LiveMatch();
  expect(() => {
    for (const message of forged) live.receive(message);
  }).toThrow("do not lead to the table");
});

test("a void match has no results", () => {
  const live = new LiveMatch();
  for (const message of watched("basic-2").slice(0, 9)) live.receive(message);
  const response = { case: "ended", value: { void: true } } as const;
  const record = live.receive(create(WatchResponseSchema, { response }));
  expect([record?.void, record?.results, live.over]).toEqual([true, undefined, true]);
});

// Places

test.each(SAMPLES)("years and turns of %s cover its moments", (name) => {
  for (const viewer of [
    { kind: "open" },
    { kind: "everybody" },
    { kind: "seat", seat: 1 },
  ] as const) {
    const record = sampleRecord(name, viewer);
    const found = years(record);
    expect(found.map(({ year }) => year)).toEqual([1, 2, 3, 4]);
    expect([found[0]?.first, found.at(-1)?.last]).toEqual([0, record.moments.length - 1]);
    for (const [at, year] of found.slice(1).entries())
      expect(year.first).toBe((found[at]?.last ?? 0) + 1);
    let last = 0;
    let dispatches = 0;
    for (const turn of turns(record)) {
      expect(turn.first).toBeGreaterThan(last);
      expect(turn.last).toBeGreaterThanOrEqual(turn.first);
      last = turn.last;
      const events = record.moments.slice(turn.first, turn.last + 1).flatMap((m) => m.events);
      const seats = events.map(({ seat }) => seat);
      expect(new Set(seats)).toEqual(new Set([turn.seat]));
      expect(events.filter(isDispatch).length).toBe(1);
      dispatches++;
    }
    const all = record.moments.flatMap((moment) => moment.events).filter(isDispatch);
    expect(dispatches).toBe(all.length);
  }
});

function isDispatch({ event }: Event): boolean {
  return event.case === "buyersDispatched";
}

test("builds, awards and faults are found", () => {
  const record = sampleRecord("forfeit-3");
  for (const index of builds(record)) {
    expect(record.moments[index]?.events[0]?.event.case).toBe("buildStarted");
  }
  expect(awards(record).length).toBe(5);
  expect(faults(record).length).toBe(1);
});

test("the log of a bot that crashed between its decisions is found with its forfeit", () => {
  const record = recordOf(structuredClone(sampleView("basic-2")));
  const seat = record.moments.find(({ decision }) => decision !== undefined)?.decision?.seat ?? 0;
  const later = record.moments.findIndex(({ decision }) => decision && decision.seat !== seat);
  const last = record.moments.slice(0, later).findLast(({ decision }) => decision?.seat === seat);
  if (last?.decision === undefined) throw new Error("no decision");
  last.decision.log = "Traceback";
  const faultsAfter = (termination: Termination) => {
    const value = { termination };
    const forfeit = create(EventSchema, { seat, event: { case: "seatForfeited", value } });
    const moments = record.moments.map((one) =>
      one.index === later ? { ...one, events: [forfeit] } : one,
    );
    return faults({ ...record, moments });
  };
  expect(faultsAfter(Termination.CRASH)).toEqual([last.index, later]);
  expect(faultsAfter(Termination.TIME_OUT)).toEqual([later]);
});

test("decisions are found by seat and number, and moments by event", () => {
  const record = sampleRecord("richest-4");
  let found = 0;
  for (const { index, decision, sequence, events } of record.moments) {
    if (decision !== undefined) {
      found++;
      expect(decisionIndex(record, decision.seat, Number(decision.decisionId))).toBe(index);
    }
    for (let at = 0; at < events.length; at++) {
      expect(sequenceIndex(record, sequence - at)).toBe(index);
    }
  }
  expect(found).toBeGreaterThan(100);
  expect(decisionIndex(record, 0, 9_999)).toBeUndefined();
  expect(decisionIndex(record, 9, 1)).toBeUndefined();
  expect(sequenceIndex(record, 0)).toBe(0);
  expect(sequenceIndex(record, 99_999)).toBe(record.moments.length - 1);
});

test("rejected replies are faults, and a decision is found at its answer", () => {
  const view = sampleView("basic-2");
  const at = view.moments.findIndex(({ decision }) => decision !== undefined);
  const answered = view.moments[at];
  if (answered?.decision === undefined) throw new Error("no decision");
  const sequence = view.moments[at - 1]?.sequence ?? 0n;
  const decision = { ...answered.decision, rejection: RejectionReason.EMPTY, actions: [] };
  const rejected = create(ReplayMomentSchema, { sequence, decision });
  const moments = [...view.moments.slice(0, at), rejected, ...view.moments.slice(at)];
  const record = recordOf({ ...view, moments });
  expect(faults(record)).toEqual([at]);
  const { seat, decisionId } = decision;
  expect(decisionIndex(record, seat, Number(decisionId))).toBe(at + 1);
  expect(firstDifference(record, recordOf(view))).toBeUndefined();
});

test("the first difference of two matches with the same deal is the first other decision", () => {
  const left = sampleView("richest-4");
  const at = 100;
  const changed = structuredClone(left);
  const decision = changed.moments.slice(at).find((moment) => moment.decision)?.decision;
  if (decision === undefined) throw new Error("no decision");
  const index = changed.moments.findIndex((moment) => moment.decision === decision);
  const [legal, other] = decision.legalActions;
  const [chosen] = decision.actions;
  if (chosen === undefined || legal === undefined || other === undefined) throw new Error("none");
  const action = JSON.stringify(legal) === JSON.stringify(chosen) ? other : legal;
  decision.actions = [action];
  const one = recordOf(left);
  const two = recordOf(changed);
  const expected = two.moments.findIndex((moment) => moment.decision === decision);
  expect(expected).toBeGreaterThanOrEqual(index);
  expect(firstDifference(one, two)).toEqual({ left: expected, right: expected });
  expect(firstDifference(one, one)).toBeUndefined();
});

test("without decisions, the first other event is the difference, and an end before it", () => {
  const view = restrictView(sampleView("richest-4"), { kind: "everybody" });
  const one = recordOf(view);
  const changed = structuredClone(view);
  const event = changed.moments[10]?.events[0];
  if (event === undefined) throw new Error("no event");
  event.asari++;
  const two = recordOf(changed);
  const at = one.moments.findIndex(({ events }) => events[0] === view.moments[10]?.events[0]);
  expect(firstDifference(one, two)).toEqual({ left: at, right: at });
  const short = recordOf({ ...view, moments: view.moments.slice(0, 5) });
  const end = short.moments.length;
  expect(firstDifference(one, short)).toEqual({ left: end, right: end - 1 });
  expect(equals(EventSchema, event, view.moments[10]?.events[0] ?? event)).toBe(false);
});
