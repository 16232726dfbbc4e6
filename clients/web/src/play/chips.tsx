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

export function Chips({ store, setting, board }: Props) {
  const actions = store.beside.value;
  const picked = store.picked.value;
  const decision = store.decision.value;
  const own = useRef<HTMLDivElement>(null);
  const [wide, setWide] = useState(false);
  const [place, setPlace] = useState<Place>();
  const target = picked.at(-1) ?? thingOf(decision);
  useLayoutEffect(() => {
    const measure = () => {
      setWide((board.current?.clientWidth ?? 0) >= WIDE);
      setPlace(placeAt(board.current, own.current, target));
    };
    measure();
    window.addEventListener("resize", measure);
    return () => window.removeEventListener("resize", measure);
  }, [target, decision, actions.length, wide]);
  if (actions.length === 0) return null;
  return (
    <div
      ref={own}
      class={wide ? "chips placed" : "chips"}
      role="group"
      aria-label={t(play, "choices")}
      data-picked={picked.length > 0 ? "" : undefined}
      style={wide && place ? { left: `${place.left}px`, top: `${place.top}px` } : {}}
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

/** Returns where the buttons lie beside a target; undefined if there is no room for them. */
function placeAt(
  board: HTMLElement | null,
  own: HTMLElement | null,
  target: string | undefined,
): Place | undefined {
  const thing = target && board?.querySelector(`[data-target="${target}"]`);
  if (board === null || own === null || !thing || board.clientWidth < WIDE) return undefined;
  const frame = board.getBoundingClientRect();
  const { left, right, top, bottom } = thing.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = own;
  const x = (left + right) / 2 - frame.left - width / 2;
  const below = bottom - frame.top + GAP;
  const fits = below + height <= frame.height;
  return {
    left: Math.max(GAP, Math.min(x, frame.width - width - GAP)),
    top: fits ? below : Math.max(GAP, top - frame.top - height - GAP),
  };
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
