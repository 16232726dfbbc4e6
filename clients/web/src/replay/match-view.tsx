/** A match: the table, the scrub bar, what happened in words, and the decision behind it. */

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Board } from "../board/board.js";
import type { MatchRecord } from "../match/model.js";
import { forfeitedSeat } from "../match/places.js";
import { type Binding, KeyHelp, useKeys } from "../ui/keyboard.js";
import { useMore } from "../ui/more.js";
import { Referee } from "../ui/referee.js";
import { isolate, t } from "../words/language.js";
import { replay } from "../words/sections/replay.js";
import { Controls, JumpMenu, positionText, ScrubBar, SpeedChoice } from "./controls.js";
import { connectEmbed } from "./embed.js";
import { copyLink, Header } from "./header.js";
import type { Jump } from "./landmarks.js";
import { Decision, Happened, sentences, TableText } from "./panel.js";
import { animated, otherSpeed } from "./player.js";
import { Awards, Ledger, Results } from "./scoring/scoring-view.js";
import { SignatureNote } from "./signature.js";
import type { MatchSource } from "./source.js";
import { MatchStore } from "./store.js";
import "./replay.css";

export interface MatchViewProps {
  readonly source: MatchSource;
  /** True in a frame of another page: table and scrub bar only. */
  readonly embedded: boolean;
  /** Address of the match's block, to see it side by side. */
  readonly block?: string | undefined;
  /** Address of the matches of its run, or of what led here. */
  readonly up?: string | undefined;
  /** News of its run, beside the year. */
  readonly news?: ComponentChildren;
  /** False if the match has no address, so that no link can lead to a moment of it. */
  readonly linked?: boolean;
}

export function MatchView({ source, ...rest }: MatchViewProps) {
  const record = source.record.value;
  const state = source.state.value;
  useEffect(() => () => source.close(), [source]);
  if (record !== undefined) return <Match source={source} first={record} {...rest} />;
  return (
    <main class="match-state">
      <p role={state.kind === "failed" ? "alert" : "status"}>
        {state.kind === "failed"
          ? t(replay, "failed", { reason: state.reason })
          : t(replay, "loading")}
      </p>
      {state.kind === "failed" && rest.up !== undefined && (
        <p>
          <a href={rest.up}>{t(replay, "allMatches")}</a>
        </p>
      )}
    </main>
  );
}

function Match({
  source,
  first,
  embedded,
  block,
  up,
  news,
  linked = true,
}: MatchViewProps & { first: MatchRecord }) {
  const store = useMemo(() => new MatchStore(source, first, linked), [source]);
  const [helped, setHelped] = useState(false);
  useEffect(() => {
    const stops = [
      ...(linked ? [store.bindAddress()] : []),
      store.run(),
      ...(embedded ? [connectEmbed(store)] : []),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [store, embedded]);
  const bindings = keysOf(store, linked, () => setHelped(true));
  useKeys(bindings);
  const { entries } = store.record.value.setting;
  useEffect(() => {
    document.title = `${entries.join(" · ")} – ASARA`;
  }, [entries]);
  return (
    <div class={embedded ? "match embedded" : "match fits"}>
      {!embedded && (
        <Header
          store={store}
          showKeys={() => setHelped(true)}
          block={block}
          up={up}
          news={news}
          linked={linked}
        />
      )}
      <main class="match-main">
        <section class="match-table" aria-label={t(replay, "board")}>
          <Table store={store} aside={embedded ? undefined : <Panel store={store} />} />
        </section>
      </main>
      <footer class="bar">
        <Announcement store={store} />
        <ScrubBar store={store} />
        <div class="bar-row">
          <Controls store={store} />
          <div class="bar-end">
            <Position store={store} />
            <SpeedChoice store={store} />
            {!embedded && <JumpMenu store={store} />}
          </div>
        </div>
      </footer>
      {helped && <KeyHelp bindings={bindings} close={() => setHelped(false)} />}
    </div>
  );
}

function Table({ store, aside }: { store: MatchStore; aside: ComponentChildren }) {
  const award = store.awards.value[store.award.value ?? -1];
  const analysed = store.analysed.value;
  const better = analysed?.parts.betterAt(analysed, store.moment.value);
  return (
    <Board
      setting={store.record.value.setting}
      moment={store.shown.value}
      previous={award === undefined ? store.previous.value : undefined}
      animate={animated(store.player.value)}
      focusSeat={award === undefined ? forfeitedSeat(store.shown.value) : undefined}
      litSeat={better?.seat}
      better={better?.targets}
      raised={award?.towers}
      aside={aside}
    />
  );
}

function Panel({ store }: { store: MatchStore }) {
  const box = useRef<HTMLElement>(null);
  useMore(box);
  const analysed = store.analysed.value;
  return (
    <aside class="panel" ref={box}>
      <Results store={store} />
      <Awards store={store} />
      {store.atResult.value && <Ledger store={store} />}
      <Happened store={store} />
      {analysed && <analysed.parts.Note store={store} analysed={analysed} />}
      {store.ignored.value !== "" && (
        <p class="quiet">
          {t(replay, "ignored")} <Referee words={store.ignored.value} />
        </p>
      )}
      <Decision store={store} />
      {!store.atResult.value && <Ledger store={store} />}
      <TableText store={store} />
      <SignatureNote store={store} />
    </aside>
  );
}

/** The current sentence and the last notice, which screen readers announce. */
function Announcement({ store }: { store: MatchStore }) {
  const record = store.record.value;
  const analysed = store.analysed.value;
  const lines = [
    ...(analysed?.parts.notesAt(analysed, store.moment.value.index, record) ?? []),
    ...sentences(store.moment.value, record),
  ];
  return (
    <div class="announcement">
      <p class="now" aria-live="polite">
        {lines.join(" ")}
      </p>
      <p class="reply" role="status">
        {store.notice.value}
      </p>
    </div>
  );
}

function Position({ store }: { store: MatchStore }) {
  const { course, player } = store;
  return (
    <span class="position">
      <span class="where">{positionText(store)}</span>
      {!course.value.over && !player.value.following && (
        <button type="button" onClick={() => store.toEnd()}>
          {t(replay, "now")}
        </button>
      )}
    </span>
  );
}

/** All keys of the page. */
function keysOf(store: MatchStore, linked: boolean, help: () => void): readonly Binding[] {
  const { entries } = store.record.value.setting;
  const jump = (to: Jump | { readonly seat: number }, forward: boolean) => () =>
    store.jump(to, forward);
  const speed = (faster: boolean) => () =>
    store.setSpeed(otherSpeed(store.player.value.speed, faster));
  return [
    { keys: ["Space"], label: t(replay, "play"), run: () => store.toggle() },
    { keys: ["ArrowRight"], label: t(replay, "stepOn"), run: () => store.step(true) },
    { keys: ["ArrowLeft"], label: t(replay, "stepBack"), run: () => store.step(false) },
    { keys: ["Shift+ArrowRight"], label: t(replay, "turnOn"), run: jump("turns", true) },
    { keys: ["Shift+ArrowLeft"], label: t(replay, "turnBack"), run: jump("turns", false) },
    { keys: ["PageDown", "y"], label: t(replay, "yearOn"), run: jump("years", true) },
    { keys: ["PageUp", "Shift+y"], label: t(replay, "yearBack"), run: jump("years", false) },
    { keys: ["Home"], label: t(replay, "first"), run: () => store.goTo(0) },
    { keys: ["End"], label: t(replay, "last"), run: () => store.toEnd() },
    { keys: ["b"], label: t(replay, "nextBuild"), run: jump("builds", true) },
    { keys: ["Shift+b"], label: t(replay, "lastBuild"), run: jump("builds", false) },
    { keys: ["a"], label: t(replay, "nextAward"), run: jump("awards", true) },
    { keys: ["Shift+a"], label: t(replay, "lastAward"), run: jump("awards", false) },
    { keys: ["f"], label: t(replay, "nextFault"), run: jump("faults", true) },
    { keys: ["Shift+f"], label: t(replay, "lastFault"), run: jump("faults", false) },
    ...(store.analysed.value === undefined
      ? []
      : [
          { keys: ["m"], label: t(replay, "nextMistake"), run: jump("mistakes", true) },
          { keys: ["Shift+m"], label: t(replay, "lastMistake"), run: jump("mistakes", false) },
          { keys: ["l"], label: t(replay, "nextLuck"), run: jump("luck", true) },
          { keys: ["Shift+l"], label: t(replay, "lastLuck"), run: jump("luck", false) },
        ]),
    ...entries.flatMap((entry, seat) => {
      const name = isolate(entry);
      return [
        {
          keys: [`${seat}`],
          label: t(replay, "nextDecision", { name }),
          run: jump({ seat }, true),
        },
        {
          keys: [`Shift+${seat}`],
          label: t(replay, "lastDecision", { name }),
          run: jump({ seat }, false),
        },
      ];
    }),
    { keys: ["+"], label: t(replay, "faster"), run: speed(true) },
    { keys: ["-"], label: t(replay, "slower"), run: speed(false) },
    {
      keys: ["v"],
      label: t(replay, "viewer"),
      run: () => store.nextViewer(),
    },
    {
      keys: ["s"],
      label: t(replay, "spoilers"),
      run: () => store.setSpoilerFree(!store.player.value.spoilerFree),
    },
    ...(linked
      ? [{ keys: ["c"], label: t(replay, "share"), run: () => void copyLink(store) }]
      : []),
    { keys: ["?"], label: t(replay, "keys"), run: help },
  ];
}
