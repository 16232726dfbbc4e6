import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { Event } from "asara/gen/event_pb.js";
import { WatchRequestSchema, WatchResponseSchema } from "asara/gen/watch_pb.js";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { MatchRecord } from "../../src/match/model.js";
import { watchMatch } from "../../src/match/watch.js";
import { sampleView } from "../samples.js";

const VIEW = sampleView("basic-2");
const EVENTS: readonly Event[] = VIEW.moments.flatMap(({ events }) => events);

/** The browser's end of a socket; a test plays the server. */
class Socket {
  static readonly opened: Socket[] = [];
  static get last(): Socket {
    const socket = Socket.opened.at(-1);
    if (socket === undefined) throw new Error("no socket was opened");
    return socket;
  }
  binaryType = "blob";
  closed = false;
  readonly sent: Uint8Array[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;

  constructor(readonly url: string) {
    Socket.opened.push(this);
  }

  send(data: Uint8Array): void {
    this.sent.push(data);
  }

  close(): void {
    this.closed = true;
  }

  /** Completes the handshake; returns the request. */
  open() {
    this.onopen?.();
    return fromBinary(WatchRequestSchema, this.sent[0] as Uint8Array);
  }

  receive(response: MessageInitShape<typeof WatchResponseSchema>["response"]): void {
    const message = create(WatchResponseSchema, { response } as never);
    const data = toBinary(WatchResponseSchema, message);
    this.onmessage?.({ data: data.buffer.slice(data.byteOffset, data.byteOffset + data.length) });
  }

  start(sequence = 0): void {
    const { matchId, entries, ruleSets, edition } = VIEW;
    const match = { matchId, entries, ruleSets, sequence: BigInt(sequence) };
    this.receive({ case: "started", value: { match, edition: edition as never } });
  }

  /** Sends the events after one number up to another. */
  update(after: number, end: number): void {
    const events = EVENTS.slice(after, end) as never[];
    this.receive({ case: "update", value: { events, sequence: BigInt(end) } });
  }

  end(): void {
    this.receive({ case: "ended", value: { results: VIEW.results as never[] } });
  }

  breaks(code = 1006, reason = ""): void {
    this.onclose?.({ code, reason });
  }
}

class Log {
  readonly records: MatchRecord[] = [];
  readonly connections: boolean[] = [];
  readonly failures: string[] = [];

  grown = (record: MatchRecord) => this.records.push(record);
  connectionChanged = (connected: boolean) => this.connections.push(connected);
  failed = (reason: string) => this.failures.push(reason);

  get events(): readonly Event[] {
    return this.records.at(-1)?.moments.flatMap(({ events }) => events) ?? [];
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", Socket);
  vi.stubGlobal("location", { href: "https://cup.example:8080/runs/cup/matches/m1#moment-3" });
  Socket.opened.length = 0;
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("a match grows to its end on one connection", () => {
  const log = new Log();
  watchMatch("the cup", VIEW.matchId, log);
  expect(Socket.last.url).toBe("wss://cup.example:8080/ws/watch?run=the%20cup");
  const request = Socket.last.open();
  expect([request.matchId, request.afterSequence]).toEqual([VIEW.matchId, 0n]);
  Socket.last.start();
  for (let at = 0; at < EVENTS.length; at += 10) {
    Socket.last.update(at, Math.min(at + 10, EVENTS.length));
  }
  expect(log.records.at(-1)?.results).toBeUndefined();
  Socket.last.end();
  expect(log.events).toEqual(EVENTS);
  expect(log.records.at(-1)?.results).toEqual(VIEW.results);
  expect(Socket.last.closed).toBe(true);
  Socket.last.breaks(4000);
  vi.runAllTimers();
  expect(Socket.opened).toHaveLength(1);
  expect([log.connections, log.failures]).toEqual([[true], []]);
});

test("after each break it goes on after the last event, and nothing is missing or doubled", () => {
  const log = new Log();
  watchMatch("cup", VIEW.matchId, log);
  let known = 0;
  while (known < EVENTS.length) {
    expect(Socket.last.open().afterSequence).toBe(BigInt(known));
    Socket.last.start(known);
    const end = Math.min(known + 25, EVENTS.length);
    Socket.last.update(Math.max(known - 3, 0), end); // some of it is known already
    known = end;
    Socket.last.breaks();
    vi.advanceTimersByTime(1_000);
  }
  Socket.last.open();
  Socket.last.start(known);
  Socket.last.end();
  expect(log.events).toEqual(EVENTS);
  const lengths = log.records.map(({ moments }) => moments.length);
  expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
  expect(log.failures).toEqual([]);
});

test("moments that were shown stay the same objects, so the page need not jump", () => {
  const log = new Log();
  watchMatch("cup", VIEW.matchId, log);
  Socket.last.open();
  Socket.last.start();
  Socket.last.update(0, 30);
  const before = log.records.at(-1)?.moments ?? [];
  Socket.last.breaks();
  vi.advanceTimersByTime(1_000);
  Socket.last.open();
  Socket.last.start(60);
  Socket.last.update(30, 60);
  const after = log.records.at(-1)?.moments ?? [];
  expect(before.length).toBeGreaterThan(5);
  for (const [index, moment] of before.entries()) expect(after[index]).toBe(moment);
});

test("pauses between attempts grow to five seconds and are reset by a success", () => {
  watchMatch("cup", VIEW.matchId, new Log());
  const pauses: number[] = [];
  for (let attempt = 0; attempt < 12; attempt++) {
    const opened = Socket.opened.length;
    Socket.last.breaks();
    const began = Date.now();
    while (Socket.opened.length === opened) vi.advanceTimersByTime(10);
    pauses.push(Date.now() - began);
  }
  expect(Math.max(...pauses)).toBeLessThanOrEqual(5_010);
  expect(Math.min(...pauses.slice(-5))).toBeGreaterThanOrEqual(2_500);
  expect(pauses[0]).toBeLessThanOrEqual(260);
  Socket.last.open();
  Socket.last.start();
  Socket.last.breaks();
  const opened = Socket.opened.length;
  vi.advanceTimersByTime(260);
  expect(Socket.opened).toHaveLength(opened + 1);
});

test.each([
  [1006, ""],
  [1011, "keepalive ping timeout"],
  [1012, ""],
  [4008, "responses-unread: nothing was read for 10 s; connect again to go on"],
  [4014, "stopping: the program that plays the match has stopped; try again"],
])("after close code %i it tries again", (code, reason) => {
  const log = new Log();
  watchMatch("cup", VIEW.matchId, log);
  Socket.last.open();
  Socket.last.breaks(code, reason);
  vi.advanceTimersByTime(1_000);
  expect(Socket.opened).toHaveLength(2);
  expect(log.failures).toEqual([]);
});

test("a match that cannot be watched is a failure with the server's sentence", () => {
  const log = new Log();
  watchMatch("cup", "m9", log);
  Socket.last.open();
  Socket.last.breaks(4005, "match: no match 'm9' can be watched now");
  vi.runAllTimers();
  expect(Socket.opened).toHaveLength(1);
  expect(log.failures).toEqual(["no match 'm9' can be watched now"]);
});

test.each<[string, unknown]>([
  ["a text", "started"],
  ["garbage", new Uint8Array([255, 255, 255]).buffer],
])("%s from the server ends the watching with a sentence", (_, data) => {
  const log = new Log();
  watchMatch("cup", VIEW.matchId, log);
  Socket.last.open();
  Socket.last.onmessage?.({ data });
  expect(log.failures).toHaveLength(1);
  expect(Socket.last.closed).toBe(true);
  Socket.last.breaks();
  vi.runAllTimers();
  expect(Socket.opened).toHaveLength(1);
});

test("a gap in the events is a failure, not a jump", () => {
  const log = new Log();
  watchMatch("cup", VIEW.matchId, log);
  Socket.last.open();
  Socket.last.start();
  Socket.last.update(0, 20);
  Socket.last.update(25, 40);
  expect(log.failures).toEqual(["Events of the match are missing; load the page again."]);
  expect(log.events).toHaveLength(20);
});

test("after the watching was ended, nothing is called any more", () => {
  const log = new Log();
  const stop = watchMatch("cup", VIEW.matchId, log);
  Socket.last.open();
  Socket.last.start();
  stop();
  Socket.last.update(0, 20);
  Socket.last.breaks();
  vi.runAllTimers();
  expect(log.records.filter(({ moments }) => moments.length > 0)).toEqual([]);
  expect(Socket.opened).toHaveLength(1);
});
