/**
 * The rules of an area in one sentence, while the pointer or the focus rests on it: where it covers
 * nothing that can be chosen, or not at all.
 */

import { type Area, Area as Areas } from "asara/gen/vocabulary_pb.js";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { MatchSetting } from "../match/model.js";
import { areaSentence } from "../words/explain.js";
import { areaName } from "../words/vocabulary.js";
import { freePlace, type Place } from "./placing.js";

const PATIENCE_MS = 450;

interface Hint {
  readonly area: Area;
  /** What the hint is about. */
  readonly thing: Element;
}

interface Props {
  readonly setting: MatchSetting;
  readonly board: { readonly current: HTMLElement | null };
}

export function Hints({ setting, board }: Props) {
  const [hint, setHint] = useState<Hint>();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    const root = board.current;
    if (root === null) return;
    let over: Area = Areas.UNSPECIFIED;
    const leave = () => {
      over = Areas.UNSPECIFIED;
      clearTimeout(timer.current);
      setHint(undefined);
    };
    const rest = (event: Event) => {
      const element = event.target instanceof Element ? event.target : null;
      const area = areaOf(element);
      if (area === over) return;
      leave();
      over = area;
      if (area === Areas.UNSPECIFIED || element === null) return;
      timer.current = setTimeout(() => {
        setHint({ area, thing: element.closest("[data-place]") ?? element });
      }, PATIENCE_MS);
    };
    root.addEventListener("pointerover", rest);
    root.addEventListener("focusin", rest);
    root.addEventListener("pointerleave", leave);
    root.addEventListener("pointerdown", leave);
    root.addEventListener("focusout", leave);
    return () => {
      leave();
      root.removeEventListener("pointerover", rest);
      root.removeEventListener("focusin", rest);
      root.removeEventListener("pointerleave", leave);
      root.removeEventListener("pointerdown", leave);
      root.removeEventListener("focusout", leave);
    };
  }, []);
  const own = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<Place>();
  useLayoutEffect(() => {
    const { current: root } = board;
    const { current: element } = own;
    if (hint === undefined || root === null || element === null) setPlace(undefined);
    else setPlace(freePlace(root, element, hint.thing));
  }, [hint]);
  if (hint === undefined) return null;
  return (
    <div
      ref={own}
      class="hint"
      role="tooltip"
      style={
        place === undefined
          ? { visibility: "hidden" }
          : { visibility: "visible", left: `${place.left}px`, top: `${place.top}px` }
      }
    >
      <b>{areaName(hint.area)}</b> {areaSentence(hint.area, setting)}
    </div>
  );
}

const PLACES = /^(?:space|area|stall|pile|display|crowd) (\d+)/;

/** Returns the area that an element of the board belongs to. */
function areaOf(element: Element | null): Area {
  for (let at = element; at !== null; at = at.parentElement) {
    for (const name of ["data-target", "data-place"]) {
      const [, area] = PLACES.exec(at.getAttribute(name) ?? "") ?? [];
      if (area !== undefined) return Number(area);
    }
  }
  return Areas.UNSPECIFIED;
}
