/** The position in a match, and how it moves. Pure: time and the match come in as arguments. */

import { type Jump, type Landmarks, neighbour } from "./landmarks.js";

export const SPEEDS = [0.5, 1, 2, 4, 8] as const;
export type Speed = (typeof SPEEDS)[number];

/** Of an update with more moments than this, a follower sees only the last one. */
const FOLLOWED_GAP = 8;
const MOMENT_MS = 1000;
const QUIET_MS = 350; // a moment without events
/** Above this speed, nothing is animated. */
const FASTEST_ANIMATED = 4;

export interface Player {
  /** Index of the moment shown. */
  readonly position: number;
  /** Plays on by itself; at the end of a running match, waits for more. */
  readonly playing: boolean;
  /** True from the end of a running match on, until the reader goes elsewhere. */
  readonly following: boolean;
  readonly speed: Speed;
  /** Results and length are not shown until the end was reached. */
  readonly spoilerFree: boolean;
  /** Largest position so far. */
  readonly farthest: number;
  /** True if the last move was one step forward, which can be animated. */
  readonly stepped: boolean;
}

/** What the player knows of the match. */
export interface Course {
  /** Number of moments so far, at least 1. */
  readonly length: number;
  /** True if no further moment follows. */
  readonly over: boolean;
}

export function newPlayer(settings: { speed: Speed; spoilerFree: boolean }): Player {
  return {
    ...settings,
    position: 0,
    playing: false,
    following: false,
    farthest: 0,
    stepped: false,
  };
}

export function atEnd(player: Player, course: Course): boolean {
  return player.position >= course.length - 1;
}

/** True if results, length and later marks are not shown. */
export function hidesEnd(player: Player, course: Course): boolean {
  return player.spoilerFree && course.over && player.farthest < course.length - 1;
}

/** Largest position on the scrub bar. */
export function barEnd(player: Player, course: Course): number {
  return hidesEnd(player, course) ? player.farthest : course.length - 1;
}

function moved(player: Player, index: number, course: Course): Player {
  const position = Math.min(Math.max(Math.trunc(index), 0), course.length - 1);
  return {
    ...player,
    position,
    stepped: position === player.position + 1,
    farthest: Math.max(player.farthest, position),
  };
}

/** Goes to a moment; playing stops, unless that is the end of a running match. */
export function goTo(player: Player, index: number, course: Course): Player {
  const there = moved(player, index, course);
  const following = !course.over && atEnd(there, course);
  return { ...there, playing: following, following };
}

/** Goes to the last moment that may be shown at once. */
export function goToEnd(player: Player, course: Course): Player {
  return goTo(player, barEnd(player, course), course);
}

export function setPlaying(player: Player, playing: boolean, course: Course): Player {
  if (playing && course.over && atEnd(player, course)) {
    return { ...moved(player, 0, course), playing: true };
  }
  return { ...player, playing, following: playing && !course.over && atEnd(player, course) };
}

/** One moment later, as time passes. */
export function tick(player: Player, course: Course): Player {
  if (!player.playing || atEnd(player, course)) return player;
  const next = moved(player, player.position + 1, course);
  const end = atEnd(next, course);
  return { ...next, playing: !(course.over && end), following: next.following || end };
}

/**
 * The match has grown or ended. A follower sees each update step by step, unless the next one comes
 * before it has caught up.
 */
export function grow(player: Player, before: Course, course: Course): Player {
  if (!player.playing) return player;
  if (course.over) return atEnd(player, course) ? { ...player, playing: false } : player;
  const far = !atEnd(player, before) || course.length - before.length > FOLLOWED_GAP;
  return player.following && far ? moved(player, course.length - 1, course) : player;
}

/**
 * Goes to the next or previous landmark; undefined if there is none. Without spoilers, a fault
 * that was not reached is not found: nobody learns from the question that there will be one.
 */
export function jump(
  player: Player,
  to: Jump | { readonly seat: number },
  forward: boolean,
  landmarks: Landmarks,
  course: Course,
): Player | undefined {
  const indices = typeof to === "object" ? (landmarks.decisions[to.seat] ?? []) : landmarks[to];
  const target = neighbour(indices, player.position, forward);
  if (target === undefined) return undefined;
  if (to === "faults" && target > barEnd(player, course)) return undefined;
  return goTo(player, target, course);
}

/** Time until the next tick, in milliseconds. */
export function tickMs({ speed }: Player, quiet: boolean): number {
  return (quiet ? QUIET_MS : MOMENT_MS) / speed;
}

export function animated(player: Player): boolean {
  return player.stepped && player.speed <= FASTEST_ANIMATED;
}

/** The next faster or slower speed. */
export function otherSpeed(speed: Speed, faster: boolean): Speed {
  const index = SPEEDS.indexOf(speed) + (faster ? 1 : -1);
  return SPEEDS[Math.min(Math.max(index, 0), SPEEDS.length - 1)] ?? speed;
}
