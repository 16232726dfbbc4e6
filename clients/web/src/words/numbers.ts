/** Numbers, dates and durations as the current language writes them. */

import { cached, locale } from "./language.js";

const formats = new Map<string, Intl.NumberFormat>();
const lists = new Map<string, Intl.ListFormat>();

function numberFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = locale() + JSON.stringify(options);
  return cached(formats, key, () => new Intl.NumberFormat(locale(), options));
}

/** Returns a number with at most `digits` decimals. */
export function number(value: number, digits = 0): string {
  return numberFormat({ maximumFractionDigits: digits }).format(value);
}

/** Returns a number with exactly `digits` decimals, for columns of a table; zero has no sign. */
export function decimal(value: number, digits: number): string {
  return numberFormat({
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    signDisplay: "negative",
  }).format(value);
}

/** Returns a number with its sign, such as `+3` or `−12`; zero has none. */
export function signed(value: number, digits = 0): string {
  return numberFormat({ maximumFractionDigits: digits, signDisplay: "exceptZero" }).format(value);
}

/** Returns a value with two decimals and its margin, such as `0.12 ± 0.05`, or `+0.12 ± 0.05`. */
export function interval([middle, margin]: readonly [number, number], withSign = false): string {
  const signDisplay = withSign ? "exceptZero" : "negative";
  const [minimumFractionDigits, maximumFractionDigits] = [2, 2];
  const format = numberFormat({ minimumFractionDigits, maximumFractionDigits, signDisplay });
  return `${format.format(middle)}\u00a0±\u00a0${decimal(margin, 2)}`;
}

/** Returns a share of 1 in per cent. */
export function percent(share: number, digits = 0): string {
  return numberFormat({ style: "percent", maximumFractionDigits: digits }).format(share);
}

/** Returns a date and time of day, from milliseconds since 1970 UTC. */
export function dateTime(unixMs: number): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(
    unixMs,
  );
}

/** Returns a duration in the unit that reads best, such as `35 ms`, `1.4 s` or `2:05`. */
export function duration(microseconds: number): string {
  const ms = microseconds / 1000;
  if (ms < 1000) return unit(ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms), "ms");
  const seconds = Math.round(ms / 100) / 10;
  return seconds < 60 ? unit(seconds, "s") : clock(Math.max(microseconds, 60e6));
}

/** Returns a length of time in one unit, such as `4 minutes`. */
export function span(seconds: number): string {
  const [value, unit] =
    seconds < 90
      ? [seconds, "second"]
      : seconds < 90 * 60
        ? [seconds / 60, "minute"]
        : [seconds / 3600, "hour"];
  return numberFormat({
    style: "unit",
    unit: unit as string,
    unitDisplay: "long",
    maximumFractionDigits: 0,
  }).format(Math.max(value as number, 0));
}

function unit(value: number, symbol: string): string {
  return `${number(value, 1)}\u00a0${symbol}`; // the international symbols
}

/** False of the time on a clock that is there in name only, for tables without one. */
export function isClock(microseconds: number): boolean {
  return microseconds < 1e13; // about four months
}

/** Returns the time on a clock, such as `2:05` or `1:00:00`; below ten seconds with tenths. */
export function clock(microseconds: number): string {
  const seconds = Math.max(0, microseconds) / 1e6;
  if (seconds < 10) return `0:0${decimal(Math.floor(seconds * 10) / 10, 1)}`;
  const whole = Math.floor(seconds);
  const minutes = Math.floor(whole / 60);
  const two = (value: number) => String(value).padStart(2, "0");
  if (minutes < 60) return `${minutes}:${two(whole % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}`;
}

/** Returns a list in words, such as `a, b and c` or, for "disjunction", `a, b or c`. */
export function list(
  items: readonly string[],
  type: "conjunction" | "disjunction" = "conjunction",
): string {
  const format = () => new Intl.ListFormat(locale(), { type });
  return cached(lists, locale() + type, format).format(items);
}
