/** Names of what is on the board, in the reader's language, for those who do not see it. */

import { create } from "@bufbuild/protobuf";
import type { Market } from "asara/gen/view_pb.js";
import { type Area, type LitWindowOffer, SectionSchema } from "asara/gen/vocabulary_pb.js";
import type { MatchSetting } from "../match/model.js";
import { areaSentence, giftSentence } from "../words/explain.js";
import { t } from "../words/language.js";
import { list } from "../words/numbers.js";
import { board } from "../words/sections/board.js";
import { common } from "../words/sections/common.js";
import { seatName } from "../words/sentences.js";
import {
  areaName,
  asariText,
  buyerColourName,
  buyerColoursPhrase,
  capitalised,
  giftName,
  sectionPhrase,
  spaceName,
  texts,
} from "../words/vocabulary.js";
import type { SectionLook } from "./shapes.js";
import type { AreaState, SpaceState, Supply } from "./table.js";

const line = (what: string, content: string): string => t(texts, "line", { what, content });

export function seatLabel(seat: number, name: string): string {
  return name === "" ? t(common, "seat", { seat }) : `${name} (${t(common, "seat", { seat })})`;
}

export function sectionName({ kind, colour, gold = false }: SectionLook): string {
  return sectionPhrase(create(SectionSchema, { kind, colour, gold }), { alone: true });
}

/** Returns a number of things, such as `blue: 3`. */
export function countedName(name: string, count: number): string {
  return count === 1 ? name : line(name, `${count}`);
}

/** Returns the name of an area with the colour that it demands. */
export function areaLabel({ area, colour }: Pick<AreaState, "area" | "colour">): string {
  const name = areaName(area);
  if (colour === 0) return name;
  return `${name} (${t(texts, "areaColour", { colour: buyerColourName(colour) })})`;
}

/** Returns what an area does, and what the gift cards on it do. */
export function areaRules({ area, spaces }: AreaState, setting: MatchSetting): string {
  const cards = spaces.flatMap((space) => space.cards);
  const gifts = cards.map((card) => line(capitalised(giftName(card)), giftSentence(card)));
  return [areaSentence(area, setting), ...new Set(gifts)].join("\n");
}

/** Returns a space with what is printed on it, the buyers there and its gift cards. */
export function spaceLabel(state: SpaceState, setting: Pick<MatchSetting, "entries">): string {
  const { info, space, dispatched, known, cards } = state;
  const sum = info.income - info.cost;
  const asari = asariText(Math.abs(sum));
  const parts = sum === 0 ? [] : [t(board, sum < 0 ? "costs" : "gives", { asari })];
  for (const { seat, colour } of dispatched) {
    const side = colour === 0 ? t(texts, "faceDown") : buyerColourName(colour);
    parts.push(`${seatName(seat, setting)} (${side})`);
  }
  if (dispatched.length === 0) parts.push(t(board, "free"));
  if (known.length > 0) parts.push(buyerColoursPhrase(known));
  if (cards.length > 0) parts.push(t(texts, "gifts", { cards: list(cards.map(giftName)) }));
  return line(spaceName(space), parts.join("; "));
}

export function pileLabel(market: Market, searching: boolean): string {
  const pile = t(texts, "pile", { n: market.pileSize });
  const name = line(areaName(market.kind as number as Area), pile);
  return searching ? `${name} (${t(board, "searching")})` : name;
}

export function offerLabel({ asari, kept, drawn }: LitWindowOffer): string {
  return capitalised(t(texts, "payOffer", { price: asariText(asari), kept, drawn }));
}

export function supplyLabel(supply: Supply, count: number): string {
  if (supply === "buyers") return t(texts, "piles", { buyers: count });
  if (supply === "lit") return t(texts, "stack", { windows: count });
  return t(texts, "deck", { gifts: count });
}
