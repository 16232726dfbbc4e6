/** The bar below the table: scrub bar, play, steps, speed and jumps. */

import { useRef } from "preact/hooks";
import { Icon, IconButton } from "../ui/icons.js";
import { t } from "../words/language.js";
import { number } from "../words/numbers.js";
import { replay } from "../words/sections/replay.js";
import type { Jump } from "./landmarks.js";
import { barEnd, SPEEDS, type Speed } from "./player.js";
import type { MatchStore } from "./store.js";

interface Props {
  readonly store: MatchStore;
}

/** Where one is, in words. */
export function positionText(store: MatchStore): string {
  const { index, table } = store.moment.value;
  const place = { moment: index, year: table.publicView.year };
  return store.hidesEnd.value
    ? t(replay, "moment", place)
    : t(replay, "momentOf", { ...place, total: store.course.value.length - 1 });
}

const LEAST_GAP = 1 / 48; // of the timeline, so that two marks do not overlap

/** Indices without those that would overlap the one before. */
function apart(indices: readonly number[], last: number): readonly number[] {
  let before = Number.NEGATIVE_INFINITY;
  return indices.filter((index) => {
    if (index - before < last * LEAST_GAP) return false;
    before = index;
    return true;
  });
}

/** The position as a slider, with years and events as marks as far as they may be shown. */
export function ScrubBar({ store }: Props) {
  const last = barEnd(store.player.value, store.course.value);
  const { years, builds, awards, faults } = store.landmarks.value;
  const { moments } = store.record.value;
  const at = (index: number) => ({ "--at": last === 0 ? 0 : index / last });
  const seen = (indices: readonly number[]) => indices.filter((index) => index <= last);
  const marks = { build: builds, award: awards, fault: faults };
  const analysed = store.analysed.value;
  return (
    <div class="scrub">
      {analysed && <analysed.parts.Curve store={store} analysed={analysed} />}
      <div class="marks" aria-hidden="true">
        {seen(years).map((index, order) => (
          <span key={`year ${index}`} class="mark year" style={at(order === 0 ? 0 : index)}>
            {number(moments[index]?.table.publicView.year ?? 0)}
          </span>
        ))}
        {Object.entries(marks).flatMap(([kind, indices]) =>
          apart(seen(indices), last).map((index) => (
            <span key={`${kind} ${index}`} class={`mark ${kind}`} style={at(index)} />
          )),
        )}
      </div>
      <input
        type="range"
        min={0}
        max={Math.max(last, 1)}
        value={store.player.value.position}
        style={at(store.player.value.position)}
        disabled={last === 0}
        aria-label={t(replay, "position")}
        aria-valuetext={positionText(store)}
        onInput={(event) => store.goTo(event.currentTarget.valueAsNumber)}
      />
    </div>
  );
}

export function Controls({ store }: Props) {
  const playing = store.playing.value;
  const jump = (to: Jump, forward: boolean) => () => store.jump(to, forward);
  return (
    <fieldset class="controls">
      <legend class="unseen">{t(replay, "controls")}</legend>
      <IconButton
        class="wide"
        glyph="end"
        back
        label={t(replay, "first")}
        onClick={() => store.goTo(0)}
      />
      <IconButton
        class="wide"
        glyph="year"
        back
        label={t(replay, "yearBack")}
        onClick={jump("years", false)}
      />
      <IconButton glyph="turn" back label={t(replay, "turnBack")} onClick={jump("turns", false)} />
      <IconButton
        glyph="step"
        back
        label={t(replay, "stepBack")}
        onClick={() => store.step(false)}
      />
      <IconButton
        class="play"
        glyph={playing ? "pause" : "play"}
        label={t(replay, playing ? "pause" : "play")}
        onClick={() => store.toggle()}
      />
      <IconButton glyph="step" label={t(replay, "stepOn")} onClick={() => store.step(true)} />
      <IconButton glyph="turn" label={t(replay, "turnOn")} onClick={jump("turns", true)} />
      <IconButton
        class="wide"
        glyph="year"
        label={t(replay, "yearOn")}
        onClick={jump("years", true)}
      />
      <IconButton
        class="wide"
        glyph="end"
        label={t(replay, "last")}
        onClick={() => store.toEnd()}
      />
    </fieldset>
  );
}

export function SpeedChoice({ store }: Props) {
  return (
    <select
      class="speed"
      aria-label={t(replay, "speed")}
      title={t(replay, "speed")}
      value={String(store.player.value.speed)}
      onChange={(event) => store.setSpeed(Number(event.currentTarget.value) as Speed)}
    >
      {SPEEDS.map((speed) => (
        <option key={speed} value={String(speed)}>
          {number(speed, 1)}×
        </option>
      ))}
    </select>
  );
}

/** A menu of places to jump to. */
export function JumpMenu({ store }: Props) {
  const menu = useRef<HTMLDetailsElement>(null);
  const { entries } = store.record.value.setting;
  const decisions = store.landmarks.value.decisions;
  const items: [string, () => void][] = [
    [t(replay, "yearBack"), () => store.jump("years", false)],
    [t(replay, "yearOn"), () => store.jump("years", true)],
    [t(replay, "lastBuild"), () => store.jump("builds", false)],
    [t(replay, "nextBuild"), () => store.jump("builds", true)],
    [t(replay, "lastAward"), () => store.jump("awards", false)],
    [t(replay, "nextAward"), () => store.jump("awards", true)],
    [t(replay, "lastFault"), () => store.jump("faults", false)],
    [t(replay, "nextFault"), () => store.jump("faults", true)],
    ...(store.analysed.value === undefined
      ? []
      : ([
          [t(replay, "lastMistake"), () => store.jump("mistakes", false)],
          [t(replay, "nextMistake"), () => store.jump("mistakes", true)],
          [t(replay, "lastLuck"), () => store.jump("luck", false)],
          [t(replay, "nextLuck"), () => store.jump("luck", true)],
        ] satisfies [string, () => void][])),
    [t(replay, "first"), () => store.goTo(0)],
    [t(replay, "last"), () => store.toEnd()],
  ];
  return (
    <details
      ref={menu}
      class="popup"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || menu.current === null) return;
        menu.current.open = false;
        menu.current.querySelector("summary")?.focus();
      }}
      onFocusOut={(event) => {
        const inside = menu.current?.contains(event.relatedTarget as Node | null);
        if (menu.current !== null && !inside && event.relatedTarget !== null)
          menu.current.open = false;
      }}
    >
      <summary class="button" aria-label={t(replay, "jump")}>
        <Icon glyph="menu" />
        <span class="text">{t(replay, "jump")}</span>
      </summary>
      <ul>
        {items.map(([label, run]) => (
          <li key={label}>
            <button type="button" class="plain" onClick={run}>
              {label}
            </button>
          </li>
        ))}
        {entries.map((name, seat) =>
          (decisions[seat] ?? []).length === 0 ? null : (
            <li key={seat} class="whole">
              <button type="button" class="plain" onClick={() => store.jump({ seat }, true)}>
                <bdi>{t(replay, "nextDecision", { name })}</bdi>
              </button>
            </li>
          ),
        )}
      </ul>
    </details>
  );
}
