/** Where something can lie on the board without covering what it is about, or what can be chosen. */

const GAP = 10;

export interface Place {
  readonly left: number;
  readonly top: number;
}

interface Box extends Place {
  readonly right: number;
  readonly bottom: number;
}

/**
 * Returns where an element fits beside the first of some targets that the board has, and covers neither
 * any of their areas nor a place that can be chosen; if it fits nowhere, a place in sight. The element
 * has the class `placed` while it is measured.
 */
export function placeBeside(
  board: HTMLElement | null,
  own: HTMLElement | null,
  targets: readonly string[],
  placed: string,
): Place | undefined {
  if (board === null || own === null) return undefined;
  const things = targets.flatMap((target) => {
    const thing = board.querySelector(`[data-target="${target}"]`);
    return thing === null ? [] : [thing, thing.closest(AREAS) ?? thing];
  });
  if (things.length === 0) return undefined;
  const avoid = [...things, ...board.querySelectorAll("[data-lit]")];
  const was = own.className;
  own.className = placed; // the size that it has there
  const size = { width: own.offsetWidth, height: own.offsetHeight };
  own.className = was;
  return place(board, size, avoid)?.place;
}

/** Returns where something of this size covers no place that can be chosen; undefined if nowhere. */
export function freePlace(
  board: HTMLElement,
  element: HTMLElement,
  thing: Element,
): Place | undefined {
  const size = { width: element.offsetWidth, height: element.offsetHeight };
  const avoid = [thing, ...board.querySelectorAll("[data-lit]")];
  const found = place(board, size, avoid);
  return found?.free ? found.place : undefined;
}

const AREAS = "[data-place^=stall], [data-place^=area]";

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Finds a place; of the things to avoid, the first two are those that it belongs to. */
function place(
  board: HTMLElement,
  size: Size,
  avoid: readonly Element[],
): { readonly place: Place; readonly free: boolean } | undefined {
  const frame = board.getBoundingClientRect();
  const boxes = avoid.map((element): Box => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return {
      left: left - frame.left,
      right: right - frame.left,
      top: top - frame.top,
      bottom: bottom - frame.top,
    };
  });
  const near = boxes.slice(0, 2).flatMap((box) => around(box, size));
  const above = near.map(({ left }) => ({ left, top: 0 })); // over the skylines
  const candidates = [...near, ...above, ...around(union(boxes), size)].map(
    ({ left, top }): Box => {
      const x = Math.max(GAP, Math.min(left, frame.width - size.width - GAP));
      const y = Math.max(GAP, top);
      return { left: x, top: y, right: x + size.width, bottom: y + size.height };
    },
  );
  const dock = document.querySelector(".dock")?.getBoundingClientRect().top ?? innerHeight;
  const depth = Math.min(frame.height, dock - frame.top);
  const fits = (box: Box) => box.bottom <= depth;
  const free = candidates.find((box) => fits(box) && !boxes.some((other) => overlap(box, other)));
  const found = free ?? candidates.find(fits) ?? candidates[0];
  return found && { place: found, free: free !== undefined };
}

/** Returns places below, right of, above and left of a box. */
function around({ left, right, top, bottom }: Box, { width, height }: Size): readonly Place[] {
  const centred = { left: (left + right - width) / 2, top: (top + bottom - height) / 2 };
  return [
    { left: centred.left, top: bottom + GAP },
    { left: right + GAP, top: centred.top },
    { left: centred.left, top: top - height - GAP },
    { left: left - width - GAP, top: centred.top },
  ];
}

function union(boxes: readonly Box[]): Box {
  return {
    left: Math.min(...boxes.map((box) => box.left)),
    right: Math.max(...boxes.map((box) => box.right)),
    top: Math.min(...boxes.map((box) => box.top)),
    bottom: Math.max(...boxes.map((box) => box.bottom)),
  };
}

function overlap(one: Box, other: Box): boolean {
  return (
    one.left < other.right &&
    other.left < one.right &&
    one.top < other.bottom &&
    other.top < one.bottom
  );
}
