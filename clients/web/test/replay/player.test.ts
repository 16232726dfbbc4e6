import { describe, expect, test } from "vitest";
import { landmarksOf } from "../../src/replay/landmarks.js";
import * as players from "../../src/replay/player.js";
import { SAMPLES, sampleRecord } from "../samples.js";

const OVER = { length: 100, over: true };
const RUNNING = { length: 100, over: false };
const START = players.newPlayer({ speed: 1, spoilerFree: false });
const BLIND = players.newPlayer({ speed: 1, spoilerFree: true });

describe("moving", () => {
  test("a position outside the match is its nearest moment", () => {
    expect(players.goTo(START, 1e9, OVER).position).toBe(99);
    expect(players.goTo(START, -3, OVER).position).toBe(0);
  });

  test("going somewhere stops playing; time alone goes on", () => {
    const playing = players.setPlaying(START, true, OVER);
    expect(players.tick(playing, OVER)).toMatchObject({ position: 1, playing: true });
    expect(players.goTo(playing, 5, OVER)).toMatchObject({ position: 5, playing: false });
  });

  test("playing ends at the end, and from there begins at the start", () => {
    const last = { ...players.goTo(START, 98, OVER), playing: true };
    const end = players.tick(last, OVER);
    expect(end).toMatchObject({ position: 99, playing: false });
    expect(players.setPlaying(end, true, OVER)).toMatchObject({ position: 0, playing: true });
  });

  test("only a single step forward is animated, and none above fourfold speed", () => {
    const step = players.goTo(START, 1, OVER);
    expect(players.animated(step)).toBe(true);
    expect(players.animated(players.goTo(step, 3, OVER))).toBe(false);
    expect(players.animated(players.goTo(step, 0, OVER))).toBe(false);
    expect(players.animated({ ...step, speed: 8 })).toBe(false);
  });

  test("speeds end at the slowest and the fastest", () => {
    expect(players.otherSpeed(4, true)).toBe(8);
    expect(players.otherSpeed(8, true)).toBe(8);
    expect(players.otherSpeed(0.5, false)).toBe(0.5);
    expect(players.tickMs({ ...START, speed: 8 }, false)).toBe(125);
  });
});

describe("a match that grows", () => {
  test("the position stays", () => {
    const reader = players.goTo(START, 40, RUNNING);
    expect(players.grow(reader, RUNNING, { length: 150, over: false })).toEqual(reader);
  });

  test("a reader at the end follows, and one far behind jumps", () => {
    const follower = players.goToEnd(START, RUNNING);
    expect(follower.playing).toBe(true);
    const near = players.grow(follower, RUNNING, { length: 103, over: false });
    expect(near).toMatchObject({ position: 99, playing: true });
    expect(players.tick(near, { length: 103, over: false }).position).toBe(100);
    expect(players.grow(follower, RUNNING, { length: 150, over: false }).position).toBe(149);
  });

  test("a follower who has not caught up by the next update jumps", () => {
    const follower = players.goToEnd(START, RUNNING);
    const near = players.grow(follower, RUNNING, { length: 103, over: false });
    const next = players.grow(near, { length: 103, over: false }, { length: 105, over: false });
    expect(next).toMatchObject({ position: 104, playing: true, following: true });
  });

  test("a reader who went back plays on from there, and at the end follows", () => {
    const back = players.goTo(players.goToEnd(START, RUNNING), 97, RUNNING);
    expect(back.following).toBe(false);
    const playing = players.setPlaying(back, true, RUNNING);
    expect(players.grow(playing, RUNNING, { length: 150, over: false }).position).toBe(97);
    const there = players.tick(players.tick(playing, RUNNING), RUNNING);
    expect(there).toMatchObject({ position: 99, playing: true, following: true });
  });

  test("following stops with the match", () => {
    const follower = players.goToEnd(START, RUNNING);
    expect(players.grow(follower, RUNNING, OVER).playing).toBe(false);
  });
});

describe("without spoilers", () => {
  test("the bar ends where the reader has been", () => {
    const reader = players.goTo(players.goTo(BLIND, 30, OVER), 10, OVER);
    expect(players.hidesEnd(reader, OVER)).toBe(true);
    expect(players.barEnd(reader, OVER)).toBe(30);
    expect(players.goToEnd(reader, OVER).position).toBe(30);
  });

  test("the end, once reached, is no secret", () => {
    const reader = players.goTo(players.goTo(BLIND, 99, OVER), 10, OVER);
    expect(players.hidesEnd(reader, OVER)).toBe(false);
    expect(players.barEnd(reader, OVER)).toBe(99);
  });

  test("nobody learns that a fault will come", () => {
    const record = sampleRecord("forfeit-3");
    const landmarks = landmarksOf(record);
    const course = { length: record.moments.length, over: true };
    expect(landmarks.faults).not.toEqual([]);
    expect(players.jump(BLIND, "faults", true, landmarks, course)).toBeUndefined();
    expect(players.jump(START, "faults", true, landmarks, course)?.position).toBe(
      landmarks.faults[0],
    );
  });
});

test.each(SAMPLES)("every jump of %s leads through the match and back", (name) => {
  const record = sampleRecord(name);
  const landmarks = landmarksOf(record);
  const course = { length: record.moments.length, over: true };
  const kinds = ["turns", "years", "builds", "awards"] as const;
  for (const to of [...kinds, ...record.setting.entries.map((_, seat) => ({ seat }))]) {
    const indices = typeof to === "object" ? (landmarks.decisions[to.seat] ?? []) : landmarks[to];
    const visited = [];
    let player = START;
    for (;;) {
      const next = players.jump(player, to, true, landmarks, course);
      if (next === undefined) break;
      visited.push(next.position);
      player = next;
    }
    expect(visited).toEqual(indices.filter((index) => index > 0));
    expect(players.jump(player, to, false, landmarks, course)?.position).toBe(indices.at(-2));
  }
});
