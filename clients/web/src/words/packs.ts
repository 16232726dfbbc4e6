/** The texts that are loaded: one pack for each language. */

import { LANGUAGES, type Language, type Texts } from "./catalogue.js";

/** The packs' types, which contain keys and placeholders. */
interface Packs {
  readonly de: typeof import("./languages/de/index.js");
  readonly en: typeof import("./languages/en/index.js");
  readonly fr: typeof import("./languages/fr/index.js");
  readonly it: typeof import("./languages/it/index.js");
  readonly nl: typeof import("./languages/nl/index.js");
  readonly es: typeof import("./languages/es/index.js");
}

/** All texts of one language. */
export type Pack<L extends Language = Language> = Packs[L];

/** Loads the packs that a page does not contain. */
export type Loaders = { readonly [L in Language]: () => Promise<Pack<L>> };

type Piece = {
  [P in keyof Pack<"en">]: Pack<"en">[P] extends Texts ? P : never;
}[keyof Pack<"en">];

const loaded: { -readonly [L in Language]?: Pack<L> } = {};
let loaders: Loaders | undefined;

/** Tells how languages that are missing are loaded. */
export function loadWith(chosen: Loaders): void {
  loaders = chosen;
}

/** Makes texts available; those of pages that are never shown may be missing. */
export function addPacks(packs: { readonly [L in Language]?: Partial<Pack<L>> }): void {
  Object.assign(loaded, packs);
}

export function isLoaded(language: Language): boolean {
  return loaded[language] !== undefined;
}

/** Loads the texts of a language, unless they are there. */
export async function loadPack(language: Language): Promise<void> {
  if (isLoaded(language)) return;
  if (loaders === undefined) throw new Error(`the page does not contain the texts in ${language}`);
  addPacks({ [language]: await loaders[language]() });
}

/** Returns a part of the texts by language; one that is not loaded throws when it is read. */
export function inEveryLanguage<T extends Readonly<Record<Language, unknown>>>(
  part: (pack: Pack) => unknown,
): T {
  const parts = {};
  for (const language of LANGUAGES) {
    const get = () => {
      const pack = loaded[language];
      if (pack === undefined) throw new Error(`the texts in ${language} are not loaded`);
      return part(pack);
    };
    Object.defineProperty(parts, language, { enumerable: true, get });
  }
  return parts as T;
}

/** Returns the texts of one part of the page, by language. */
export function section<P extends Piece>(piece: P): { readonly [L in Language]: Pack<L>[P] } {
  return inEveryLanguage<{ readonly [L in Language]: Pack<L>[P] }>((pack) => pack[piece]);
}
