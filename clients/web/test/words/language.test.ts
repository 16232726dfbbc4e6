import { afterEach, beforeEach, expect, test } from "vitest";
import { LANGUAGES, type Section } from "../../src/words/catalogue.js";
import { fill, isolate, language, preferredLanguage, t } from "../../src/words/language.js";
import {
  clock,
  decimal,
  duration,
  list,
  number,
  percent,
  signed,
} from "../../src/words/numbers.js";
import { common } from "../../src/words/sections/common.js";

beforeEach(() => {
  language.value = "en";
});

afterEach(() => {
  language.value = "en";
});

test("the first language that the browser and the page share decides", () => {
  expect(preferredLanguage(["pt-BR", "nl-BE", "de"])).toBe("nl");
  expect(preferredLanguage(["DE-at"])).toBe("de");
  expect(preferredLanguage(["ja"])).toBe("en");
  expect(preferredLanguage([])).toBe("en");
});

test("a text changes with the language", () => {
  expect(t(common, "seat", { seat: 2 })).toBe("Seat 2");
  language.value = "fr";
  expect(t(common, "seat", { seat: 2 })).toBe("Siège 2");
});

test("plural forms follow the language", () => {
  const towers = "{count:# one|# other}";
  const zero: Record<string, string> = {};
  for (const tag of LANGUAGES) {
    language.value = tag;
    zero[tag] = fill(towers, { count: 0 });
    expect(fill(towers, { count: 1 })).toBe("1 one");
    expect(fill(towers, { count: 2 })).toBe("2 other");
  }
  expect(zero).toEqual({
    de: "0 other",
    en: "0 other",
    fr: "0 one",
    it: "0 other",
    nl: "0 other",
    es: "0 other",
  });
});

test("values are not interpreted", () => {
  expect(fill("{who} wins {n:# match|# matches}.", { who: "{n} [a|b] $& #", n: 2 })).toBe(
    "{n} [a|b] $& # wins 2 matches.",
  );
});

test("French punctuation does not begin a line", () => {
  language.value = "fr";
  expect(fill("Prix : {n} ; qui ?", { n: "a : b" })).toBe("Prix\u00a0: a : b\u00a0; qui\u00a0?");
});

test("a sentence has a form for the third and one for the second person", () => {
  expect(fill("{who} [buys|buy] it.", { who: "greedy" })).toBe("greedy buys it.");
  expect(fill("{who} [buys|buy] it.", { who: "You" }, true)).toBe("You buy it.");
});

test("a name cannot end its isolation", () => {
  expect(isolate("a\u2069\u202eb\u2067\n")).toBe("\u2068ab\u2069");
  expect(isolate("بوت")).toBe("\u2068بوت\u2069");
});

test("numbers are written as the language writes them", () => {
  const seen: Record<string, string> = {};
  for (const tag of LANGUAGES) {
    language.value = tag;
    seen[tag] = `${number(12345.6, 1)} ${percent(0.5)}`.replaceAll(/\s/gu, " ");
  }
  expect(seen).toMatchObject({
    en: "12,345.6 50%",
    de: "12.345,6 50 %",
    fr: "12 345,6 50 %",
    nl: "12.345,6 50%",
  });
  language.value = "en";
  expect([signed(3), signed(0), signed(-3)]).toEqual(["+3", "0", "-3"]);
  expect([decimal(2, 1), decimal(-0.04, 1), decimal(-0.06, 1)]).toEqual(["2.0", "0.0", "-0.1"]);
});

test("durations use the unit that reads best", () => {
  expect(duration(3_240)).toBe("3.2\u00a0ms");
  expect(duration(35_400)).toBe("35\u00a0ms");
  expect(duration(1_460_000)).toBe("1.5\u00a0s");
  expect(duration(59_940_000)).toBe("59.9\u00a0s");
  expect(duration(59_960_000)).toBe("1:00");
  expect(duration(125_000_000)).toBe("2:05");
  expect(clock(9_870_000)).toBe("0:09.8");
  expect(clock(3_600_000_000)).toBe("1:00:00");
  expect(clock(-1)).toBe("0:00.0");
});

test("lists are written in words", () => {
  expect(list(["a", "b", "c"])).toBe("a, b and c");
  expect(list(["a", "b"], "disjunction")).toBe("a or b");
});

test("the types know keys and placeholders", () => {
  const incomplete = {
    de: {},
    en: { one: "{a}", plain: "x" },
    fr: { one: "{a}" },
    it: { one: "{a}" },
    nl: { one: "{a}" },
    es: { one: "{a}" },
  } as const satisfies Section;
  // @ts-expect-error: German lacks the key
  t(incomplete, "one", { a: 1 });
  // @ts-expect-error: the placeholder is missing
  t(common, "seat");
  // @ts-expect-error: there is no such placeholder
  t(common, "seat", { place: 1 });
  // @ts-expect-error: there is no such key
  t(common, "nothing");
  expect(t(common, "close")).toBe("Close");
});
