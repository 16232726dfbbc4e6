/** The game's terms, and phrases made of them, in the current language. */

import {
  Area,
  type BuyerColour,
  type Colour,
  type Edition,
  type GiftCard,
  GiftKind,
  RuleSet,
  type SectionKind,
  type Space,
  type Section as TowerSection,
} from "asara/gen/vocabulary_pb.js";
import type { Catalogue, Language } from "./catalogue.js";
import { fill, language, t } from "./language.js";
import { list } from "./numbers.js";
import { inEveryLanguage, type Pack } from "./packs.js";

/** The game in every language. */
export const catalogues = inEveryLanguage<Readonly<Record<Language, Catalogue>>>(
  ({ catalogue }) => catalogue,
);

/** The templates of the game's texts. */
export const texts = inEveryLanguage<{
  readonly [L in Language]: Pack<L>["catalogue"]["texts"];
}>(({ catalogue }) => catalogue.texts);

/** Returns the game in the current language. */
export function words(): Catalogue {
  return catalogues[language.value];
}

function part(alternatives: string | undefined, index: number): string {
  const parts = alternatives?.split("/") ?? [];
  return parts[index] || parts[0] || "";
}

/** Returns a sentence's text with a capital letter at its start. */
export function capitalised(text: string): string {
  return text.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
}

// Terms

export function areaName(area: Area): string {
  return part(words().areas[area - 1], 0);
}

export function colourName(colour: Colour): string {
  return part(words().colours[colour - 1], 6);
}

export function buyerColourName(colour: BuyerColour): string {
  return part(words().buyers[colour - 1], 6);
}

/** Returns a kind of section in the plural. */
export function kindsName(kind: SectionKind): string {
  return part(words().kinds[kind - 1], 1);
}

function ruleSetName(ruleSet: RuleSet): string {
  return words().ruleSets[ruleSet - 1] ?? "";
}

/**
 * Returns the rules of a match, such as `Professional version, Gifts of the Caliph`. The basic game is
 * part of all of them, and is named only if it is alone.
 */
export function rulesName(ruleSets: readonly RuleSet[]): string {
  const added = ruleSets.filter((ruleSet) => ruleSet !== RuleSet.BASIC);
  return (added.length === 0 ? ruleSets : added).map(ruleSetName).join(", ");
}

const UNNUMBERED: ReadonlySet<Area> = new Set([Area.COLOURED_BUILDING, Area.CALIPHS_PATRONAGE]);

function placed(place: string, { area, number: n }: Space): string {
  if (UNNUMBERED.has(area)) return place;
  return t(texts, area === Area.BUILDING_CIRCLE ? "plot" : "space", { area: place, n });
}

/** Returns a space, such as `Bank, space 12`. */
export function spaceName(space: Space): string {
  return placed(areaName(space.area), space);
}

/** Returns a space as the destination of a buyer, such as `to the bank, space 12`. */
export function toSpace(space: Space): string {
  return placed(part(words().areas[space.area - 1], 1), space);
}

// Phrases: nouns with their colours

interface PhraseOptions {
  /** Number of things, 1 if absent; 0 for a plural without a number. */
  readonly count?: number;
  /** True for a phrase that stands alone, without an article. */
  readonly alone?: boolean;
  readonly gold?: boolean;
}

function phrase(noun: string, colour: string | undefined, options: PhraseOptions): string {
  const { count = 1, alone = false, gold = false } = options;
  const { adjectiveFirst, article, gold: golden } = words();
  const gender = Number(part(`0/${noun}`, 3));
  const single = count === 1;
  const form = single ? gender : gender === 1 ? 4 : 3;
  const thing = part(noun, single ? 0 : 1);
  const adjective = part(colour, alone && single && gender === 0 ? 5 : form);
  const both = adjectiveFirst ? [adjective, thing] : [thing, adjective];
  const all = [...both, gold ? part(golden, form) : ""].filter((word) => word !== "").join(" ");
  if (!single) return count === 0 ? all : `${count} ${all}`;
  if (alone) return all;
  const before = article === "a" && /^[aeiou]/.test(all) ? "an" : part(article, gender);
  return `${before} ${all}`;
}

/** Returns a section, such as `a red turret with gold`. */
export function sectionPhrase(section: TowerSection, options: PhraseOptions = {}): string {
  const { kinds, colours } = words();
  return phrase(kinds[section.kind - 1] ?? "", colours[section.colour - 1], {
    gold: section.gold,
    ...options,
  });
}

/** Returns a tower, such as `a red tower`. */
export function towerPhrase(colour: Colour, options: PhraseOptions = {}): string {
  return phrase(words().tower, words().colours[colour - 1], options);
}

/** Returns the colour of a tower in the form that stands beside the noun, as in `red tower`. */
export function towerColourName(colour: Colour): string {
  const gender = Number(part(`0/${words().tower}`, 3));
  return part(words().colours[colour - 1], gender === 0 ? 5 : gender);
}

/** Returns a lit window, such as `a red lit window`. */
export function litWindowPhrase(colour: Colour, options: PhraseOptions = {}): string {
  return phrase(words().litWindow, words().colours[colour - 1], options);
}

/** Returns a buyer, such as `a blue buyer`. */
export function buyerPhrase(colour: BuyerColour, options: PhraseOptions = {}): string {
  return phrase(words().buyer, words().buyers[colour - 1], options);
}

/** Returns a kind of section without its colour, such as `a turret` or `2 turrets`. */
export function kindPhrase(kind: SectionKind, options: PhraseOptions = {}): string {
  return phrase(words().kinds[kind - 1] ?? "", undefined, options);
}

/** Returns a number of lit windows, such as `2 lit windows`. */
export function litWindowCount(count: number): string {
  return count === 0
    ? `0 ${part(words().litWindow, 1)}`
    : phrase(words().litWindow, undefined, { count });
}

/** Returns equal things counted, in order of first appearance. */
export function counted<T>(
  things: readonly T[],
  key: (thing: T) => string | number,
): { readonly thing: T; readonly count: number }[] {
  const groups = new Map<string | number, { thing: T; count: number }>();
  for (const thing of things) {
    const group = groups.get(key(thing));
    if (group === undefined) groups.set(key(thing), { thing, count: 1 });
    else group.count += 1;
  }
  return [...groups.values()];
}

/** Returns sections, equal ones together, such as `a red turret and 2 white turrets`. */
export function sectionsPhrase(sections: readonly TowerSection[]): string {
  const groups = counted(sections, ({ kind, colour, gold }) => `${kind} ${colour} ${gold}`);
  return list(groups.map(({ thing, count }) => sectionPhrase(thing, { count })));
}

/** Returns lit windows, equal ones together. */
export function litWindowsPhrase(colours: readonly Colour[]): string {
  const groups = counted(colours, (colour) => colour);
  return list(groups.map(({ thing, count }) => litWindowPhrase(thing, { count })));
}

/** Returns the names of buyers' colours, equal ones together, such as `2 × blue and yellow`. */
export function buyerColoursPhrase(colours: readonly BuyerColour[]): string {
  const groups = counted(colours, (colour) => colour);
  return list(groups.map(({ thing, count }) => times(count, buyerColourName(thing))));
}

/** Returns the colours of lit windows, which a sentence has named, equal ones together. */
export function litWindowColoursPhrase(colours: readonly Colour[]): string {
  const { adjectiveFirst, litWindow, colours: forms } = words();
  const form = adjectiveFirst ? 6 : Number(part(`0/${litWindow}`, 3));
  const groups = counted(colours, (colour) => colour);
  return list(groups.map(({ thing, count }) => times(count, part(forms[thing - 1], form))));
}

export function times(count: number, thing: string): string {
  return count === 1 ? thing : `${count} × ${thing}`;
}

// Amounts and cards

export function asariText(n: number): string {
  return t(texts, "asari", { n });
}

export function pointsText(n: number): string {
  return t(texts, "points", { n });
}

/** Returns the price of a section of a colour, or 0. */
export function priceOf(edition: Edition, colour: Colour): number {
  return edition.colours.find((info) => info.colour === colour)?.price ?? 0;
}

/** Returns a gift card, such as `buy a turret`. */
export function giftName(card: GiftCard): string {
  return fill(words().gifts[card.kind - 1] ?? "", {
    asari: asariText(card.asari),
    points: pointsText(card.prestige),
    section: card.kind === GiftKind.BUY_SECTION ? kindPhrase(card.sectionKind) : "",
  });
}
