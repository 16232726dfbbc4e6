/** The types of the page's texts, and the templates that they are written in. */

import type { en, enRules } from "./languages/en/game.js";

/** The languages of the page, in the order of the switch. */
export const LANGUAGES = ["de", "en", "fr", "it", "nl", "es"] as const;
export type Language = (typeof LANGUAGES)[number];

/** Value of a placeholder. Numbers are written as the language writes them. */
export type Value = string | number;

/** Templates by key. */
export type Texts = Readonly<Record<string, string>>;

/**
 * Texts of one part of the page in all languages. Each language's file ends with
 * `as const satisfies Texts`, so that `t` knows the keys and placeholders.
 *
 * Templates contain
 *
 * - `{name}`: a value, never interpreted again;
 * - `{count:# tower|# towers}`: the form for one or for other numbers; `#` is the number;
 * - `[buys|buy]`: the form for the third person or, if `you` is set, for the second person.
 */
export type Section = { readonly [L in Language]: Texts };

type Name<P> = P extends `${infer N}:${string}` ? N : P;

/** Names of a template's placeholders. */
export type Placeholders<T> = string extends T
  ? string
  : T extends `${string}{${infer P}}${infer Rest}`
    ? Name<P> | Placeholders<Rest>
    : never;

/** Keys that every language of a section has. */
export type Key<S extends Section> = keyof S["en"] &
  keyof S["de"] &
  keyof S["fr"] &
  keyof S["it"] &
  keyof S["nl"] &
  keyof S["es"] &
  string;

/** The arguments after the key: none without placeholders. */
export type Arguments<T> = [Placeholders<T>] extends [never]
  ? []
  : string extends T
    ? [values?: Readonly<Record<string, Value>>]
    : [values: Readonly<Record<Placeholders<T>, Value>>];

type Shape<T> = T extends string
  ? string
  : T extends boolean
    ? boolean
    : { readonly [K in keyof T]: Shape<T[K]> };

/**
 * The game in one language. Lists are in the order of the enums, from 1. Alternatives are separated
 * by slashes:
 *
 * - nouns: singular, plural and gender (0 masculine or common, 1 feminine, 2 neuter);
 * - colours and `gold`: the forms for 0 masculine, 1 feminine, 2 neuter, 3 plural, 4 feminine
 *   plural, 5 a masculine subject, 6 the colour's name; an empty form is like the first;
 * - articles of objects: masculine, feminine, neuter;
 * - areas: name, and direction of a buyer.
 */
export type Catalogue = Shape<typeof en>;

/** Explanations in one language, apart from the catalogue because not every page has them. */
export type Rules = Shape<typeof enRules>;
