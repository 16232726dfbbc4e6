/** Names of what is on the board, in the reader's language. */

import type { Market } from "asara/gen/view_pb.js";
import type { GiftCard, LitWindowOffer, Section, Tower } from "asara/gen/vocabulary_pb.js";
import type { SpaceState } from "./table.js";

const AREAS = [
  "",
  "Base market",
  "Trunk market",
  "Window market",
  "Turret market",
  "Building circle",
  "Bank",
  "Coloured building",
  "House of Spies",
  "Caliph’s patronage",
  "Tent",
  "House of Lighted Windows",
  "House of the Bottle Genie",
];
const KINDS = ["", "base", "trunk", "window", "turret"];
const COLOURS = ["", "brown", "green", "red", "black", "white"];
const BUYERS = ["face down", "blue", "yellow", "purple", "green", "orange"];

export const areaName = (area: number): string => AREAS[area] ?? "";
export const kindName = (kind: number): string => KINDS[kind] ?? "";
export const colourName = (colour: number): string => COLOURS[colour] ?? "";
export const buyerName = (colour: number): string => BUYERS[colour] ?? "";
export const sectionName = (s: Pick<Section, "kind" | "colour"> & { gold?: boolean }): string =>
  `${colourName(s.colour)} ${kindName(s.kind)}${s.gold ? " with gold" : ""}`;
export const towerName = (t: Tower): string => `${colourName(t.colour)} tower`;
export const giftName = (card: GiftCard): string => `gift ${card.kind}`;
export const spaceName = (s: SpaceState): string => `${areaName(s.space.area)} ${s.space.number}`;
export const pileName = (m: Market): string => `pile ${m.pileSize}`;
export const forfeitText = (n: number): string => `Forfeit ${n}`;
export const offerName = (o: LitWindowOffer): string => `${o.asari}`;
export const supplyName = (k: string, n: number): string => `${k} ${n}`;
export const text = (key: string, ...values: unknown[]): string => `${key} ${values.join(" ")}`;
