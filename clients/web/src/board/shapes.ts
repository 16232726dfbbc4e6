/**
 * Outlines of sections, made by code.
 *
 * A section stands on y = 0 with its middle at x = 0, and grows upwards (negative y).
 */

import { Colour, SectionKind } from "asara/gen/vocabulary_pb.js";

export interface SectionLook {
  readonly kind: SectionKind;
  readonly colour: Colour;
  readonly gold?: boolean;
  /** A lit window covers the opening and hides the gold. */
  readonly lit?: boolean;
}

/** Height of a section by kind; index 0 is unused. */
export const HEIGHTS: readonly number[] = [0, 22, 17, 23, 39];

const OUTLINES: readonly string[] = [
  "",
  "M-19 0v-5h3v-15h-2v-2h36v2h-2v15h3v5z",
  "M-13 0v-13h-2.5v-4h31v4h-2.5v13z",
  "M-13 0v-1l-4-3v-4h4v-12h-2.5v-3h31v3h-2.5v12h4v4l-4 3v1z",
  "M-16 0v-4h3.5c-7-10 1-17 7.5-22.500l4-4.500l1-8l1 8l4 4.500c6.5 5.5 14.5 12.5 7.5 22.500h3.500v4z",
];

/** Opening of a window, and the door of a base. */
const ARCH = "M-5 -6v-7.500q0-3.5 5-6q5 2.5 5 6v7.500z";
const DOOR = "M-5 0v-9q0-3.5 5-5.500q5 2 5 5.500v9z";

export function outline(kind: SectionKind): string {
  return OUTLINES[kind] ?? "";
}

export function opening(kind: SectionKind): string {
  if (kind === SectionKind.WINDOW) return ARCH;
  return kind === SectionKind.BASE ? DOOR : "";
}

/** Half of the width that a texture may fill at a height above the ground. */
function halfWidth(kind: SectionKind, up: number): number {
  if (kind !== SectionKind.TURRET) return up < (HEIGHTS[kind] ?? 0) - 4 ? 13 : 0;
  return up < 5 || up > 27 ? 0 : up < 15 ? 14 : 14 - (up - 15) * 0.95;
}

const round = (value: number): number => Math.round(value * 10) / 10;

function scales(kind: SectionKind): string {
  let path = "";
  for (let up = 4, row = 0; up < 28; up += 4, row++) {
    const half = halfWidth(kind, up + 2);
    const steps = Math.floor((2 * half) / 6 - (row % 2 ? 0.5 : 0));
    if (steps > 0) path += `M${round(-steps * 3)} ${-up}${"q3 4 6 0".repeat(steps)}`;
  }
  return path;
}

function bond(kind: SectionKind): string {
  let path = "";
  for (let up = 4, row = 0; up < 28; up += 4, row++) {
    const half = halfWidth(kind, up);
    if (half < 3) continue;
    path += `M${round(-half)} ${-up}h${round(2 * half)}`;
    for (let x = row % 2 ? -8 : -4; x < half - 1; x += 8)
      if (x > 1 - half) path += `M${x} ${-up}v4`;
  }
  return path;
}

function hatching(kind: SectionKind): string {
  let path = "";
  for (let foot = -36; foot < 14; foot += 4.5) {
    const inside: number[] = [];
    for (let up = 2; up < 28; up += 0.5) {
      if (Math.abs(foot + up) < halfWidth(kind, up) - 0.5) inside.push(up);
    }
    const first = inside[0];
    const last = inside.at(-1);
    if (first === undefined || last === undefined || last - first < 1.5) continue;
    path += `M${round(foot + first)} ${-first}L${round(foot + last)} ${-last}`;
  }
  return path;
}

const VEINS: readonly string[] = [
  "",
  "M-15 -17q4 3 5 8t4 8M14 -19q-4 5-3 9M9 -1q1-5 6-4",
  "M-12 -11q6 0 9 4t6 6M11 -12q-3 5-6 5",
  "M-12 -17q4 3 3 8t4 8M12 -16q-5 4-3 8t3 6",
  "M-10 -18q6 2 7 7t4 6M9 -17q-5 3-2 8",
];

const textures = new Map<number, string>();

/** Lines of a colour's material on a kind of section: one path, empty for clay. */
export function texture(kind: SectionKind, colour: Colour): string {
  const key = kind * 8 + colour;
  let path = textures.get(key);
  if (path === undefined) {
    if (colour === Colour.GREEN) path = scales(kind);
    else if (colour === Colour.RED) path = bond(kind);
    else if (colour === Colour.BLACK) path = hatching(kind);
    else path = colour === Colour.WHITE ? (VEINS[kind] ?? "") : "";
    textures.set(key, path);
  }
  return path;
}

/** Crown of gold on the upper edge of a section. */
export function crown(kind: SectionKind): string {
  const y =
    kind === SectionKind.TURRET ? -4 : -(HEIGHTS[kind] ?? 0) + (kind === SectionKind.BASE ? 1 : 2);
  return `M-11 ${y}l-2-5l6 2l7-4.6l7 4.6l6-2l-2 5z`;
}

/** Outlines of buyers' shapes by colour, within a circle of radius 10 round the origin. */
export const BUYER_SHAPES: readonly string[] = [
  "",
  "M-9 0a9 9 0 1 0 18 0a9 9 0 1 0-18 0z",
  "M-8 -8h16v16h-16z",
  "M0 -11l9.5 11l-9.5 11l-9.5-11z",
  "M0 -10.500l10.5 18.500h-21z",
  "M-5.3 -9.200h10.600l5.3 9.200l-5.3 9.200h-10.600l-5.3-9.200z",
];
