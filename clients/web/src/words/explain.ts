/** The rules in our own words, with the numbers of a match's edition. */

import type { DecisionKind } from "asara/gen/play_pb.js";
import {
  Area,
  type Award,
  type GiftCard,
  RuleSet,
  type SpaceInfo,
} from "asara/gen/vocabulary_pb.js";
import type { MatchSetting } from "../match/model.js";
import type { Language, Rules } from "./catalogue.js";
import { fill, language, t } from "./language.js";
import { list, number } from "./numbers.js";
import { inEveryLanguage, type Pack } from "./packs.js";
import { asariText, colourName } from "./vocabulary.js";

/** The explanations in every language. */
export const rules = inEveryLanguage<Readonly<Record<Language, Rules>>>((pack) => pack.rules);

export const texts = inEveryLanguage<{
  readonly [L in Language]: Pack<L>["rules"]["texts"];
}>((pack) => pack.rules.texts);

function explanations(): Rules {
  return rules[language.value];
}

/** Returns what an area does, in one or two sentences; empty if the rules lack the area. */
export function areaSentence(area: Area, { edition }: MatchSetting): string {
  const spaces = edition.spaces.filter(({ space }) => space?.area === area);
  if (spaces.length === 0) return "";
  const template = explanations().areas[Math.max(0, area - Area.TURRET_MARKET)] ?? "";
  return fill(template, {
    prices: list(edition.colours.map((info) => `${colourName(info.colour)} ${number(info.price)}`)),
    costs: amounts(spaces, ({ cost }) => cost),
    incomes: numbers(spaces, ({ income }) => income),
    income: asariText(spaces[0]?.income ?? 0),
    count: edition.tentBuyers,
    offers: list(
      edition.litWindowOffers.map(({ asari, kept, drawn }) =>
        fill(explanations().offer, { asari: asariText(asari), kept, drawn }),
      ),
      "disjunction",
    ),
  });
}

function values(spaces: readonly SpaceInfo[], value: (info: SpaceInfo) => number): number[] {
  return [...new Set(spaces.map(value))].sort((a, b) => a - b);
}

function numbers(spaces: readonly SpaceInfo[], value: (info: SpaceInfo) => number): string {
  return list(values(spaces, value).map(String), "disjunction");
}

function amounts(spaces: readonly SpaceInfo[], value: (info: SpaceInfo) => number): string {
  const all = values(spaces, value);
  const last = all.at(-1) ?? 0;
  return list([...all.slice(0, -1).map(String), asariText(last)], "disjunction");
}

/** Returns what a rule set adds. */
export function ruleSetSentence(ruleSet: RuleSet): string {
  return fill(explanations().ruleSets[ruleSet - 1] ?? "");
}

/** Returns an explanation of a decision in one or two sentences. */
export function decisionHelp(kind: DecisionKind): string {
  return fill(explanations().decisions[kind - 1] ?? "");
}

/** Returns what a gift card does. */
export function giftSentence(card: GiftCard): string {
  return fill(explanations().gifts[card.kind - 1] ?? "");
}

/** A sign on the board. */
export type SymbolName = keyof Rules["symbols"];

/** Returns what a sign means. */
export function symbolSentence(name: SymbolName): string {
  return fill(explanations().symbols[name]);
}

/** Returns with what a match and its later years begin. */
export function startSentences({ edition, entries }: MatchSetting): string[] {
  const money = edition.startingAsari.slice(0, entries.length);
  const last = money.at(-1) ?? 0;
  return [
    t(texts, "start", {
      count: edition.handSize,
      money: list([...money.slice(0, -1).map(number), asariText(last)]),
    }),
    t(texts, "newYear", { income: asariText(edition.yearlyAsari), count: edition.handSize }),
  ];
}

/** Returns how prestige is scored at the end of a year and of the match. */
export function scoringSentences({ edition, ruleSets }: MatchSetting): string[] {
  const professional = ruleSets.includes(RuleSet.PROFESSIONAL);
  const points = (award: Award | undefined) =>
    `${number(award?.first ?? 0)}/${number(award?.second ?? 0)}`;
  return [
    t(texts, "scoringYear"),
    ...(professional ? [t(texts, "scoringYearLit")] : []),
    t(texts, "scoringFinal", {
      colours: list(
        edition.colours.map((info) => `${colourName(info.colour)} ${points(info.highestTower)}`),
      ),
      highest: points(edition.highestTower),
      most: points(edition.mostTowers),
      asari: asariText(edition.asariPerPrestige),
    }),
    t(texts, "scoringTies"),
    ...(professional ? [t(texts, "scoringTiesLit")] : []),
  ];
}
