/** Choices that have no place of their own, or share one: buttons beside the thing in question. */

import type { Decision } from "asara/gen/play_pb.js";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { MatchSetting } from "../match/model.js";
import { t } from "../words/language.js";
import { play } from "../words/sections/play.js";
import { actionSentence } from "../words/sentences.js";
import type { PlayStore } from "./store.js";

const WIDE = 700; // px of the board from which on the buttons lie on it
const GAP = 10;

interface Props {
  readonly store: PlayStore;
  readonly setting: MatchSetting;
  readonly board: { readonly current: HTMLElement | null };
}

interface Place {
  readonly left: number;
  readonly top: number;
}

interface Box extends Place {
  readonly right: number;
  readonly bottom: number;
}

export function Chips({ store, setting, board }: Props) {
  const actions = store.beside.value;
  const picked = store.picked.value;
  const decision = store.decision.value;
  const own = useRef<HTMLDivElement>(null);
  const [wide, setWide] = useState(false);
  const [place, setPlace] = useState<Place>();
  const [dock, setDock] = useState(0);
  const target = picked.at(-1) ?? thingOf(decision);
  useLayoutEffect(() => {
    const measure = () => {
      setWide((board.current?.clientWidth ?? 0) >= WIDE);
      setPlace(placeAt(board.current, own.current, target));
      setDock(document.querySelector<HTMLElement>(".dock")?.offsetHeight ?? 0);
    };
    measure();
    window.addEventListener("resize", measure);
    return () => window.removeEventListener("resize", measure);
  }, [target, decision, actions.length, wide]);
  if (actions.length === 0) return null;
  return (
    <div
      ref={own}
      class={wide && place ? "chips placed" : "chips"}
      role="group"
      aria-label={t(play, "choices")}
      data-picked={picked.length > 0 ? "" : undefined}
      style={
        wide && place ? { left: `${place.left}px`, top: `${place.top}px` } : { bottom: `${dock}px` }
      }
      onKeyDown={(event) => {
        if (move(own.current, event.key)) event.preventDefault();
      }}
    >
      {actions.map((action, index) => (
        <button key={index} type="button" data-chip onClick={() => store.choose(action)}>
          {actionSentence(action, { setting })}
        </button>
      ))}
    </div>
  );
}

/** Returns the target of the thing that a decision is about; undefined if there is none. */
function thingOf(decision: Decision | undefined): string | undefined {
  if (decision === undefined) return undefined;
  const [searched] = decision.view?.privateView?.searchedSections ?? [];
  if (searched !== undefined) return `pile ${searched.kind}`;
  const { space } = decision;
  return space && `space ${space.area} ${space.number}`;
}

/**
 * Returns where the buttons lie beside a target and cover no place that can be chosen; undefined
 * if there is no room for them.
 */
function placeAt(
  board: HTMLElement | null,
  own: HTMLElement | null,
  target: string | undefined,
): Place | undefined {
  const thing = target && board?.querySelector(`[data-target="${target}"]`);
  if (board === null || own === null || !thing || board.clientWidth < WIDE) return undefined;
  const frame = board.getBoundingClientRect();
  const within = (element: Element): Box => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return {
      left: left - frame.left,
      right: right - frame.left,
      top: top - frame.top,
      bottom: bottom - frame.top,
    };
  };
  const beside = within(thing);
  const lit = [...board.querySelectorAll("[data-lit]")].map(within);
  const was = own.className;
  own.className = "chips placed"; // the size that they have there
  const size = { width: own.offsetWidth, height: own.offsetHeight };
  own.className = was;
  const places = [...around(beside, size), ...around(union([beside, ...lit]), size)].map(
    ({ left, top }) => ({
      left: Math.max(GAP, Math.min(left, frame.width - size.width - GAP)),
      top: Math.max(GAP, top),
    }),
  );
  const boxes = places.map(({ left, top }) => ({
    left,
    top,
    right: left + size.width,
    bottom: top + size.height,
  }));
  const dock = document.querySelector(".dock")?.getBoundingClientRect().top ?? innerHeight;
  const depth = Math.min(frame.height, dock - frame.top);
  const fits = (box: Box) => box.bottom <= depth;
  const free = (box: Box) => ![beside, ...lit].some((other) => overlap(box, other));
  return boxes.find((box) => fits(box) && free(box)) ?? boxes.find(fits) ?? boxes[0];
}

/** Returns places below, above, right and left of a box. */
function around(
  { left, right, top, bottom }: Box,
  { width, height }: { readonly width: number; readonly height: number },
): readonly Place[] {
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

/** Moves the focus among the buttons; false if the key does not. */
function move(own: HTMLElement | null, key: string): boolean {
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[key];
  if (own === null || step === undefined) return false;
  const buttons = [...own.querySelectorAll<HTMLElement>("[data-chip]")];
  const now = buttons.indexOf(document.activeElement as HTMLElement);
  buttons[(now + step + buttons.length) % buttons.length]?.focus();
  return true;
}
