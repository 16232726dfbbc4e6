import { gzipSync } from "node:zlib";
import { Termination } from "asara/gen/event_pb.js";
import { DecisionKind, RejectionReason } from "asara/gen/play_pb.js";
import {
  Area,
  BuyerColour,
  Colour,
  GiftKind,
  RuleSet,
  SectionKind,
} from "asara/gen/vocabulary_pb.js";
import { expect, test } from "vitest";
import { LANGUAGES, type Language, type Section } from "../../src/words/catalogue.js";
import { rules } from "../../src/words/explain.js";
import { unloaded } from "../../src/words/unloaded.js";
import { catalogues } from "../../src/words/vocabulary.js";

const files = import.meta.glob<Record<string, Section>>("../../src/words/sections/*.ts", {
  eager: true,
});
const sections = new Map<string, Section>();
for (const [file, exported] of Object.entries(files)) {
  const name = file.replace(/^.*\/|\.ts$/g, "");
  for (const section of Object.values(exported)) {
    if (typeof section === "object") sections.set(name, section);
  }
}

/** All texts of a value by path, such as `texts.bank` or `areas.3`. */
function leaves(value: unknown, path = ""): Map<string, string> {
  if (typeof value === "string") return new Map([[path, value]]);
  const found = new Map<string, string>();
  for (const [key, inner] of Object.entries(value ?? {})) {
    for (const leaf of leaves(inner, path === "" ? key : `${path}.${key}`)) found.set(...leaf);
  }
  return found;
}

function placeholders(text: string): string[] {
  return [...new Set([...text.matchAll(/\{(\w+)/g)].map(([, name]) => name ?? ""))].sort();
}

const sources = new Map<string, Readonly<Record<Language, Map<string, string>>>>();
const others = [
  ["catalogue", catalogues] as const,
  ["rules", rules] as const,
  ["unloaded", unloaded] as const,
];
for (const [name, section] of [...sections, ...others]) {
  sources.set(
    name,
    Object.fromEntries(LANGUAGES.map((tag) => [tag, leaves(section[tag])])) as Record<
      Language,
      Map<string, string>
    >,
  );
}

test.each([...sources])("%s is complete in every language", (_, source) => {
  const english = source.en;
  expect(english.size).toBeGreaterThan(0);
  for (const tag of LANGUAGES) {
    const texts = source[tag];
    expect([...texts.keys()].sort(), tag).toEqual([...english.keys()].sort());
    for (const [key, text] of texts) {
      expect(placeholders(text), `${tag} ${key}`).toEqual(placeholders(english.get(key) ?? ""));
      if (english.get(key) !== "" && key !== "pronoun")
        expect(text.trim(), `${tag} ${key}`).not.toBe("");
    }
  }
});

test.each([...sources])("%s is well written", (_, source) => {
  for (const tag of LANGUAGES) {
    for (const [key, text] of source[tag]) {
      const where = `${tag} ${key}: ${text}`;
      expect(text, where).not.toMatch(/[!¡<>]|&\w+;/);
      expect(text, where).not.toMatch(/ {2}|'|"|\.\.\./);
      expect(text.replaceAll(/\{\w+(:[^|{}]*\|[^|{}]*)?\}/g, ""), where).not.toMatch(/[{}]/);
      expect(text.replaceAll(/\[[^[\]|]*\|[^[\]|]*\]/g, ""), where).not.toMatch(/[[\]]/);
      if (tag === "fr") expect(text, where).not.toMatch(/[^ ][;?]|[^ ]:(?= |$)|\u00a0|\u202f/);
      if (tag === "en")
        expect(text, where).not.toMatch(/\b(color|gray|center|favorite)|[a-z]ize[ds]?\b/i);
    }
  }
});

test("there is a word for every member of the vocabulary", () => {
  const count = (members: object) => Object.values(members).filter((n) => Number(n) > 0).length;
  for (const [tag, words] of Object.entries(catalogues)) {
    expect(words.areas.length, tag).toBe(count(Area));
    expect(words.kinds.length, tag).toBe(count(SectionKind));
    expect(words.colours.length, tag).toBe(count(Colour));
    expect(words.buyers.length, tag).toBe(count(BuyerColour));
    expect(words.ruleSets.length, tag).toBe(count(RuleSet));
    expect(words.gifts.length, tag).toBe(count(GiftKind));
    expect(words.decisions.length, tag).toBe(count(DecisionKind));
    expect(words.terminations.length, tag).toBe(count(Termination));
    expect(words.rejections.length, tag).toBe(count(RejectionReason));
  }
  for (const [tag, words] of Object.entries(rules)) {
    expect(words.areas.length, tag).toBe(count(Area) - 3); // one for the four markets
    expect(words.decisions.length, tag).toBe(count(DecisionKind));
    expect(words.gifts.length, tag).toBe(count(GiftKind));
    expect(words.ruleSets.length, tag).toBe(count(RuleSet));
  }
});

test("the texts of a language are small, as every page loads them", () => {
  // As a minifier writes them: names of members without quotes.
  const written = (value: object) => JSON.stringify(value).replaceAll(/"(\w+)":/g, "$1:");
  for (const tag of LANGUAGES) {
    const parts = [...sections.values(), catalogues, rules].map((part) => written(part[tag]));
    expect(gzipSync(parts.join("")).length, tag).toBeLessThan(12_000);
  }
});

test("the page that is one file has the texts of its parts, and no others", () => {
  const code = import.meta.glob<string>("../../src/**/*.{ts,tsx}", {
    eager: true,
    query: "?raw",
    import: "default",
  });
  const reached = new Set<string>();
  const reach = (path: string) => {
    if (reached.has(path)) return;
    reached.add(path);
    const imported = code[path]?.matchAll(
      /^(?!import type).*(?:from|import\(|import) ?"(\..*)\.js"/gm,
    );
    for (const [, name] of imported ?? []) {
      const target = new URL(name ?? "", `file:///${path.replaceAll("../", "")}`).pathname;
      for (const end of [".ts", ".tsx"])
        if (`../..${target}${end}` in code) reach(`../..${target}${end}`);
    }
  };
  reach("../../src/single.tsx");
  const used = [...reached].flatMap((path) => /sections\/(.*)\.ts$/.exec(path)?.[1] ?? []);
  const offline = code["../../src/words/offline.ts"] ?? "";
  for (const tag of LANGUAGES) {
    const contained = [...offline.matchAll(new RegExp(`: ${tag}\\.(\\w+)`, "g"))].map((m) => m[1]);
    expect(contained.sort(), tag).toEqual(["catalogue", "rules", ...used].sort());
  }
});
