import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { create, equals, fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { EventSchema } from "asara/gen/event_pb.js";
import type { ReplayView } from "asara/gen/replay_view_pb.js";
import { type PrivateView, type PublicView, PublicViewSchema } from "asara/gen/view_pb.js";
import { expect, test } from "vitest";
import { MatchError } from "../../src/match/errors.js";
import { type Fold, foldEvent, foldEvents, startFold, tableView } from "../../src/match/fold.js";
import { SAMPLES, sampleFile, sampleView } from "../samples.js";

function start({ edition, ruleSets, entries }: ReplayView): Fold {
  if (edition === undefined) throw new Error("no edition");
  return startFold(edition, ruleSets, entries.length);
}

function digest(view: PublicView): string {
  const hash = createHash("sha256").update(toBinary(PublicViewSchema, view));
  return hash.digest("hex").slice(0, 16);
}

test.each(SAMPLES)("the events of %s lead to the public views of the referee", (name) => {
  const replay = sampleView(name);
  const text = new TextDecoder().decode(sampleFile(`${name}.public.json`));
  const expected: string[] = JSON.parse(text);
  const privateViews: PrivateView[] = [];
  let fold = start(replay);
  expect(replay.moments.length).toBe(expected.length);
  for (const [index, { events, privateViews: fresh }] of replay.moments.entries()) {
    fold = foldEvents(fold, events);
    for (const own of fresh) privateViews[own.seat] = own;
    if (digest(fold.view) === expected[index]) continue;
    // A choice that changes the view without an event is open.
    const table = tableView(fold, privateViews);
    expect(table).not.toBe(fold.view);
    expect(digest(table)).toBe(expected[index]);
  }
});

test("the views themselves are equal, message by message", () => {
  const replay = sampleView("richest-4");
  const reader = new BinaryReader(gunzipSync(sampleFile("richest-4.public.gz")));
  let fold = start(replay);
  let different = 0;
  for (const { events } of replay.moments) {
    fold = foldEvents(fold, events);
    const expected = fromBinary(PublicViewSchema, reader.bytes());
    if (!equals(PublicViewSchema, fold.view, expected)) different++;
  }
  expect(different).toBeLessThan(5); // open choices, see above
  expect(reader.pos).toBe(reader.len);
});

test.each(SAMPLES)("the money of every seat of %s is the sum of its events", (name) => {
  const replay = sampleView(name);
  let fold = start(replay);
  for (const { events, privateViews } of replay.moments) {
    fold = foldEvents(fold, events);
    for (const { seat, asari } of privateViews) expect(fold.asari[seat]).toBe(asari);
  }
  expect(replay.results.map(({ asari }) => asari)).toEqual(fold.asari);
  expect(replay.results.map(({ prestige }) => prestige)).toEqual(
    fold.view.seats.map(({ prestige }) => prestige),
  );
});

test("an event changes no earlier view, and shares what it leaves alone", () => {
  const replay = sampleView("richest-4");
  let fold = start(replay);
  for (const event of replay.moments.flatMap(({ events }) => events)) {
    const before = structuredClone(fold.view);
    const next = foldEvent(fold, event);
    expect(fold.view).toEqual(before);
    if (event.event.case === "fundsTaken") {
      expect(next.view.markets).toBe(fold.view.markets);
      expect(next.view.areas).toBe(fold.view.areas);
    }
    fold = next;
  }
});

test("an event of a seat that does not exist is an error in words", () => {
  const fold = start(sampleView("basic-2"));
  const event = create(EventSchema, { seat: 2, event: { case: "patronageTaken", value: {} } });
  expect(() => foldEvent(fold, event)).toThrow(MatchError);
  expect(() => foldEvent(fold, event)).toThrow("seat 2, which the match does not have");
});

test("events of no known kind, and without their details, change nothing", () => {
  const fold = foldEvents(
    start(sampleView("richest-4")),
    sampleView("richest-4").moments[0]?.events ?? [],
  );
  const kinds = [
    "giftLaid",
    "buyersDispatched",
    "giftTaken",
    "sectionTaken",
    "displayFilled",
  ] as const;
  for (const kind of kinds) {
    const event = create(EventSchema, { event: { case: kind, value: {} } });
    expect(foldEvent(fold, event).view).toEqual(fold.view);
  }
  expect(foldEvent(fold, create(EventSchema))).toBe(fold);
});
