/** What the page remembers of its user: kept in this browser, and nowhere else. */

import { effect, type Signal, signal } from "@preact/signals";

const PREFIX = "asara.";

/**
 * A setting that the browser remembers. `read` returns the value of a stored text, or undefined if
 * the text is none, so that nothing in the store can harm the page.
 */
export function remembered<T>(
  name: string,
  initial: T,
  read: (text: string) => T | undefined,
): Signal<T> {
  const setting = signal(stored(name, read) ?? initial);
  let written = setting.value;
  effect(() => {
    const { value } = setting;
    if (value === written) return;
    written = value;
    try {
      localStorage.setItem(PREFIX + name, String(value));
    } catch {
      // Without a store, as in a sandboxed frame, the setting lasts as long as the page.
    }
  });
  return setting;
}

function stored<T>(name: string, read: (text: string) => T | undefined): T | undefined {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? undefined : read(text);
  } catch {
    return undefined;
  }
}

function oneOf<T extends string | number>(values: readonly T[]) {
  return (text: string) => values.find((value) => String(value) === text);
}

function flag(text: string): boolean | undefined {
  return text === "true" ? true : text === "false" ? false : undefined;
}

const THEMES = ["auto", "dark", "light"] as const;
export type Theme = (typeof THEMES)[number];

export const theme = remembered<Theme>("theme", "auto", oneOf(THEMES));
export const speed = remembered<0.5 | 1 | 2 | 4 | 8>("speed", 1, oneOf([0.5, 1, 2, 4, 8] as const));
/** True if matches open without their result and length. */
export const spoilerFree = remembered("spoiler-free", false, flag);
/** Whose view a match opens with: everybody, open, or seat-N. */
export const viewer = remembered("viewer", "everybody", (text) =>
  /^(everybody|open|seat-[0-3])$/.test(text) ? text : undefined,
);
/** True if single keys control the page (they can disturb speech input). */
export const singleKeys = remembered("single-keys", true, flag);

/** Applies the theme to the page and keeps it applied. */
export function applyTheme(): void {
  effect(() => {
    if (theme.value === "auto") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.setAttribute("data-theme", theme.value);
  });
}

/** The theme after this one, for a button that switches. */
export function nextTheme(now: Theme): Theme {
  return THEMES[(THEMES.indexOf(now) + 1) % THEMES.length] ?? "auto";
}
