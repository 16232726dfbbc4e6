import { afterEach, beforeEach, expect, test, vi } from "vitest";

// A module of its own for each test: the setup of the tests has loaded all languages elsewhere.
let words: typeof import("../../src/words/language.js");
let packs: typeof import("../../src/words/packs.js");
let common: typeof import("../../src/words/sections/common.js")["common"];

beforeEach(async () => {
  vi.resetModules();
  packs = await import("../../src/words/packs.js");
  words = await import("../../src/words/language.js");
  ({ common } = await import("../../src/words/sections/common.js"));
  const { LOADERS } = await import("../../src/words/loaders.js");
  packs.loadWith(LOADERS);
  await packs.loadPack("en");
});

afterEach(() => {
  vi.useRealTimers();
  vi.resetModules();
});

test("the texts stay until those of the chosen language are loaded", async () => {
  const changed = words.setLanguage("de");
  expect(words.chosenLanguage.value).toBe("de");
  expect(words.language.value).toBe("en");
  expect(words.t(common, "close")).toBe("Close");
  await changed;
  expect(words.language.value).toBe("de");
  expect(words.t(common, "close")).toBe("Schließen");
});

test("a language that is loaded is shown at once", async () => {
  await packs.loadPack("fr");
  words.setLanguage("fr");
  expect(words.t(common, "close")).toBe("Fermer");
});

test("of two languages chosen quickly, the last one is shown", async () => {
  await Promise.all([words.setLanguage("it"), words.setLanguage("nl")]);
  expect(words.language.value).toBe("nl");
  expect(words.chosenLanguage.value).toBe("nl");
});

test("without the texts the language stays, and the page knows that they failed", async () => {
  vi.useFakeTimers();
  const { LOADERS } = await import("../../src/words/loaders.js");
  packs.loadWith({ ...LOADERS, es: () => Promise.reject(new TypeError("no connection")) });
  await words.setLanguage("es");
  expect(words.languageFailed.value).toBe(true);
  expect([words.language.value, words.chosenLanguage.value]).toEqual(["en", "en"]);
  vi.advanceTimersByTime(60_000);
  expect(words.languageFailed.value).toBe(false);
  await words.setLanguage("de");
  expect(words.language.value).toBe("de");
});

test("texts that are not loaded are not silently empty", () => {
  words.language.value = "it";
  expect(() => words.t(common, "close")).toThrow("the texts in it are not loaded");
});
