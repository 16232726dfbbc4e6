/** Choices that have no place of their own, or share one: buttons beside the thing in question. */

import type { Decision } from "asara/gen/play_pb.js";
import type { Action } from "asara/gen/vocabulary_pb.js";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { BuyerIcon } from "../board/pieces.js";
import { spaceTarget } from "../board/targets.js";
import type { MatchSetting } from "../match/model.js";
import { t } from "../words/language.js";
import { play } from "../words/sections/play.js";
import { actionSentence } from "../words/sentences.js";
import { type Place, placeBeside } from "./placing.js";
import type { PlayStore } from "./store.js";

const WIDE = 700; // px of the board from which on the buttons lie on it

interface Props {
  readonly store: PlayStore;
  readonly setting: MatchSetting;
  readonly board: { readonly current: HTMLElement | null };
}

export function Chips({ store, setting, board }: Props) {
  const actions = store.beside.value;
  const picked = store.picked.value;
  const decision = store.decision.value;
  const own = useRef<HTMLDivElement>(null);
  const [wide, setWide] = useState(false);
  const [place, setPlace] = useState<Place>();
  const [dock, setDock] = useState(0);
  const targets = [...picked.slice(-1), ...thingOf(decision)];
  useLayoutEffect(() => {
    const below = document.querySelector<HTMLElement>(".dock");
    const measure = () => {
      const wide = (board.current?.clientWidth ?? 0) >= WIDE;
      setWide(wide);
      setPlace(wide ? placeBeside(board.current, own.current, targets, "chips placed") : undefined);
      setDock(below?.offsetHeight ?? 0);
    };
    measure();
    // The dock grows by what is held once it is known that the window is narrow.
    const sizes = new ResizeObserver(measure);
    if (below !== null) sizes.observe(below);
    window.addEventListener("resize", measure);
    return () => {
      sizes.disconnect();
      window.removeEventListener("resize", measure);
    };
  }, [targets.join(), decision, actions.length, wide]);
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
          <Tokens action={action} />
          {actionSentence(action, { setting })}
        </button>
      ))}
    </div>
  );
}

/** The buyers that an action lays, as they lie in the hand; nothing for other actions. */
function Tokens({ action: { action } }: { readonly action: Action }) {
  if (action.case !== "layBuyers") return null;
  return (
    <span class="tokens" aria-hidden="true">
      {action.value.buyers.map((colour, index) => (
        <BuyerIcon key={index} colour={colour} size={24} />
      ))}
    </span>
  );
}

/** Returns the target of the thing that a decision is about, if there is one. */
function thingOf(decision: Decision | undefined): readonly string[] {
  const [searched] = decision?.view?.privateView?.searchedSections ?? [];
  if (searched !== undefined) return [`pile ${searched.kind}`];
  const space = decision?.space;
  return space === undefined ? [] : [spaceTarget(space)];
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
