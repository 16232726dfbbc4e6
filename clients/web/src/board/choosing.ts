/** Lights the targets of a choice, and moves the focus among them. */

import type { BoardChoices } from "./targets.js";

const all = (root: Element): (HTMLElement | SVGElement)[] => [
  ...root.querySelectorAll<HTMLElement | SVGElement>("[data-target]"),
];

/**
 * Marks what can be chosen: as buttons, of which one at a time can be reached by Tab. Also marks
 * what would have been better.
 */
export function lightTargets(
  root: Element,
  choices: BoardChoices | undefined,
  better: ReadonlySet<string> | undefined,
): void {
  const elements = all(root);
  const lit = elements.filter((element) => choices?.actions.has(element.dataset["target"] ?? ""));
  const stop = lit.find((element) => element === document.activeElement) ?? lit[0];
  for (const element of elements) {
    const chosen = choices?.chosen.has(element.dataset["target"] ?? "") === true;
    const usable = chosen || lit.includes(element);
    element.toggleAttribute("data-lit", lit.includes(element));
    element.toggleAttribute("data-chosen", chosen);
    element.toggleAttribute("data-better", better?.has(element.dataset["target"] ?? "") === true);
    write(element, "role", usable ? "button" : "img");
    write(element, "aria-pressed", usable ? `${chosen}` : null);
    write(element, "tabindex", usable ? (element === stop ? "0" : "-1") : null);
  }
}

/** Writes an attribute if it changes, as every write costs a new computation of styles. */
function write(element: Element, name: string, value: string | null): void {
  if (element.getAttribute(name) === value) return;
  if (value === null) element.removeAttribute(name);
  else element.setAttribute(name, value);
}

const DIRECTIONS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Moves the focus to the nearest target in the direction of an arrow key; false if none is. */
export function moveFocus(root: Element, key: string): boolean {
  const direction = DIRECTIONS[key];
  const from = document.activeElement;
  if (direction === undefined || from === null || !root.contains(from)) return false;
  const targets = all(root).filter((element) => element.hasAttribute("tabindex"));
  if (!targets.includes(from as HTMLElement)) return false;
  const start = centre(from);
  const next = nearest(
    targets.filter((element) => element !== from),
    (element) => distance(start, centre(element), direction),
  );
  if (next === undefined) return false;
  from.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
  return true;
}

type Point = readonly [number, number];

function centre(element: Element): Point {
  const { x, y, width, height } = element.getBoundingClientRect();
  return [x + width / 2, y + height / 2];
}

/** Distance in a direction: what lies aside counts double, what lies behind is out of reach. */
export function distance([x, y]: Point, [toX, toY]: Point, [dx, dy]: Point): number {
  const along = (toX - x) * dx + (toY - y) * dy;
  const aside = Math.abs((toX - x) * dy) + Math.abs((toY - y) * dx);
  return along <= 1 || aside > along * 3 ? Number.POSITIVE_INFINITY : along + 2 * aside;
}

function nearest<T>(items: readonly T[], measure: (item: T) => number): T | undefined {
  let best: T | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const far = measure(item);
    if (far < least) [best, least] = [item, far];
  }
  return best;
}
