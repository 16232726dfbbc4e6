/** The language of the page, and texts in it. */

import { effect, signal } from "@preact/signals";
import { remembered } from "../settings.js";
import {
  type Arguments,
  type Key,
  LANGUAGES,
  type Language,
  type Section,
  type Value,
} from "./catalogue.js";
import { isLoaded, loadPack } from "./packs.js";

/** Returns the first of a browser's languages that the page has, or English. */
export function preferredLanguage(tags: readonly string[]): Language {
  for (const tag of tags) {
    const found = LANGUAGES.find((language) => language === primary(tag));
    if (found !== undefined) return found;
  }
  return "en";
}

function primary(tag: string): string {
  return tag.toLowerCase().split("-", 1)[0] ?? "";
}

function browserTags(): readonly string[] {
  return typeof document === "undefined" ? [] : navigator.languages;
}

/** The language that a file was written in, if its author chose one. */
function fileLanguage(): Language | undefined {
  if (typeof document === "undefined") return undefined;
  return asLanguage(document.documentElement.getAttribute("data-language"));
}

function asLanguage(text: string | null): Language | undefined {
  return LANGUAGES.find((language) => language === text);
}

/** The current language. Components that read it are rendered again when it changes. */
export const language = remembered<Language>(
  "language",
  fileLanguage() ?? preferredLanguage(browserTags()),
  asLanguage,
);

/** The language that the reader has chosen: the current one, or one that is being loaded. */
export const chosenLanguage = signal<Language>(language.value);

/** True for some seconds after the texts of a chosen language could not be loaded. */
export const languageFailed = signal(false);
const TOLD_MS = 12_000;
let forgetting: ReturnType<typeof setTimeout> | undefined;

effect(() => {
  chosenLanguage.value = language.value;
  if (typeof document !== "undefined") document.documentElement.lang = language.value;
});

/**
 * Changes the language. The page keeps its texts until those of the language are loaded, and for
 * good if they cannot be.
 */
export async function setLanguage(chosen: Language): Promise<void> {
  chosenLanguage.value = chosen;
  languageFailed.value = false;
  clearTimeout(forgetting);
  if (!isLoaded(chosen)) {
    const failed = await loadPack(chosen).then(
      () => false,
      () => true,
    );
    if (chosenLanguage.value !== chosen) return; // another has been chosen since
    if (failed) {
      chosenLanguage.value = language.value;
      languageFailed.value = true;
      forgetting = setTimeout(() => {
        languageFailed.value = false;
      }, TOLD_MS);
      return;
    }
  }
  language.value = chosen;
}

/** Returns the locale for numbers and dates: the browser's regional form of the language. */
export function locale(): string {
  const current = language.value;
  const regional = browserTags().find((tag) => primary(tag) === current);
  return regional ?? (current === "en" ? "en-GB" : current);
}

/** Returns a text of a section in the current language. */
export function t<S extends Section, K extends Key<S>>(
  section: S,
  key: K,
  ...[values]: Arguments<S["en"][K]>
): string {
  return fill(section[language.value][key] ?? "", values);
}

const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Returns the name of an entry for use inside a sentence: isolated, so that its direction does not
 * affect the words around it, and without characters that could end the isolation.
 */
export function isolate(name: string): string {
  return `\u2068${name.replace(CONTROLS, "")}\u2069`;
}

const plurals = new Map<Language, Intl.PluralRules>();
const numbers = new Map<string, Intl.NumberFormat>();

/** Returns a member of a map, which is made first if it is missing. */
export function cached<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

function isOne(count: number): boolean {
  const current = language.value;
  return cached(plurals, current, () => new Intl.PluralRules(current)).select(count) === "one";
}

function written(value: Value): string {
  if (typeof value === "string") return value;
  const tag = locale();
  return cached(numbers, tag, () => new Intl.NumberFormat(tag)).format(value);
}

const NO_BREAK = / (?=%)/g; // spaces at which a line must not break
const NO_BREAK_FRENCH = / (?=[%;:?»])|(?<=«) /g;
const PERSONS = /\[([^|\]]*)\|([^\]]*)\]/g;
const PLACEHOLDERS = /\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g;

/**
 * Returns a template's text in the current language. Values are inserted as they are: a value that
 * looks like a placeholder stays as it is.
 */
export function fill(
  template: string,
  values: Readonly<Record<string, Value>> = {},
  you = false,
): string {
  return template
    .replace(language.value === "fr" ? NO_BREAK_FRENCH : NO_BREAK, "\u00a0")
    .replace(PERSONS, (_, third: string, second: string) => (you ? second : third))
    .replace(PLACEHOLDERS, (_, name: string, one?: string, other?: string) => {
      const value = values[name] ?? "";
      const text = written(value);
      if (one === undefined || other === undefined) return text;
      return (isOne(Number(value)) ? one : other).replaceAll("#", () => text);
    });
}
