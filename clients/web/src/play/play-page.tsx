/** The page of a person's seat. */

import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Board } from "../board/board.js";
import type { MatchSetting, Moment } from "../match/model.js";
import { Preferences } from "../replay/header.js";
import type { MatchView } from "../replay/match-view.js";
import { pathOf } from "../router.js";
import { useRules } from "../rules/rules-button.js";
import { type Binding, KeyHelp, useKeys } from "../ui/keyboard.js";
import { isolate, t } from "../words/language.js";
import { list } from "../words/numbers.js";
import { common } from "../words/sections/common.js";
import { play } from "../words/sections/play.js";
import { replay } from "../words/sections/replay.js";
import { rejectionText } from "../words/sentences.js";
import { capitalised, rulesName } from "../words/vocabulary.js";
import { Chips } from "./chips.js";
import { ClockFace } from "./clock.js";
import { isClosed } from "./connection.js";
import { Dock } from "./dock.js";
import { explainAgain } from "./explained.js";
import { Hints } from "./hints.js";
import { parseLink, type SeatLink } from "./link.js";
import { Log } from "./log.js";
import { Message } from "./message.js";
import { Outcome, showsReplay, useFinished, winnersOf } from "./outcome.js";
import "./play.css";
import { PlayStore } from "./store.js";

export function PlayPage() {
  const [link] = useState(() => parseLink(location.hash));
  useEffect(() => {
    if (link === undefined) document.title = `${t(play, "title")} – ASARA`;
  });
  if (link === undefined) {
    return <Message title={t(play, "noSeat")} text={t(play, "noSeatHelp")} />;
  }
  return <Seat link={link} />;
}

function Seat({ link }: { readonly link: NonNullable<ReturnType<typeof parseLink>> }) {
  const store = useMemo(() => new PlayStore(link), [link]);
  useEffect(() => store.run(), [store]);
  const { stage, setting } = store.session.value;
  const asked = store.decision.value !== undefined;
  useEffect(() => {
    // The name of the tab calls a person who looks elsewhere.
    const title = t(play, asked ? "yourTurn" : "title");
    document.title = `${title} – ASARA`;
  });
  const ending = store.ending.value;
  if (ending?.reason === "replaced") {
    const button = { label: t(play, "here"), press: () => store.again() };
    return <Message title={t(play, "replaced")} text={t(play, "replacedHelp")} button={button} />;
  }
  if (setting === undefined || stage === "waiting") {
    return <Waiting store={store} />;
  }
  return <Match store={store} />;
}

function Waiting({ store }: { readonly store: PlayStore }) {
  const trouble = troubleOf(store);
  if (trouble !== undefined) return <Message {...trouble} />;
  if (!store.connected.value) return <Message title={t(play, "connecting")} />;
  return <Message title={t(play, "waiting")} text={otherPeople(store.link)} />;
}

/** Why the page cannot play, and what to do; undefined while nothing is wrong. */
function troubleOf({ session, ending: { value: ending }, connected }: PlayStore) {
  if (ending?.reason === "unknown-token") {
    const text = `${t(play, "closed")}. ${t(play, "closedHelp")}`;
    return { title: t(play, "unknownToken"), text };
  }
  if (session.value.stage === "closed" || (ending !== undefined && isClosed(ending))) {
    return { title: t(play, "closed"), text: t(play, "closedHelp") };
  }
  if (ending !== undefined) return { title: t(play, "refused"), text: ending.detail };
  if (connected.value !== false) return undefined;
  return { title: t(play, "lost"), text: t(play, "lostHelp") };
}

/** The other people at the table; the page does not know which of them are there. */
function otherPeople({ names, me }: SeatLink): string {
  const others = names.filter((name, other) => other !== me && GIVEN_NAME.test(name));
  return others.length === 0 ? "" : t(play, "alsoHere", { names: list(others.map(isolate)) });
}

/** Names that `asara play` gives to people. */
const GIVEN_NAME = /^(?:you|player-\d+|)$/;

/** The setting with the reader's own name in the reader's language. */
function named(setting: MatchSetting, seat: number): MatchSetting {
  const own = capitalised(t(common, "you"));
  const entries = setting.entries.map((name, other) =>
    other === seat && GIVEN_NAME.test(name) ? own : name,
  );
  return { ...setting, entries };
}

function Match({ store }: { readonly store: PlayStore }) {
  const session = store.session.value;
  const moment = store.moment.value;
  const own = t(common, "you");
  const setting = useMemo(
    () => session.setting && named(session.setting, session.seat),
    [session.setting, session.seat, own],
  );
  const previous = usePrevious(moment);
  const board = useRef<HTMLDivElement>(null);
  const help = useSignal(false);
  const bindings = useBindings(store, help);
  const replaying = showsReplay();
  useKeys(replaying ? [] : bindings);
  useFocus(store, board);
  const over = useComputed(() => store.session.value.stage === "over" && store.caughtUp.value);
  const finished = useFinished(store, setting);
  const Replay = useMatchView(finished !== undefined);
  const again = { label: t(play, "explainAgain"), press: explainAgain };
  const rules = useRules(setting === undefined ? undefined : { setting, button: again });
  if (moment === undefined || setting === undefined) return null;
  if (replaying && finished !== undefined && Replay !== undefined) {
    const up = pathOf({ page: "play" }) + location.hash;
    return <Replay source={finished.source} embedded={false} linked={false} up={up} />;
  }
  return (
    <div class="play-page">
      <Head
        store={store}
        setting={setting}
        moment={moment}
        showKeys={() => (help.value = true)}
        showRules={rules.open}
      />
      <main class="play-table">
        <Notices store={store} />
        {over.value && (
          <Outcome
            store={store}
            setting={setting}
            record={finished?.record}
            complete={finished?.complete ?? false}
            analysis={finished?.analysis}
          />
        )}
        <div class="play-board" ref={board}>
          <Board
            setting={setting}
            moment={(over.value && finished?.record.moments.at(-1)) || moment}
            previous={over.value ? undefined : previous}
            choices={over.value ? undefined : store.choices.value}
            better={store.hintTargets.value}
            focusSeat={store.decision.value === undefined ? undefined : session.seat}
            litSeat={over.value ? winnersOf(session)[0] : undefined}
            aside={<Log store={store} setting={setting} />}
          />
          <Chips store={store} setting={setting} board={board} />
          <Hints setting={setting} board={board} />
        </div>
      </main>
      {session.stage === "playing" && (
        <Dock store={store} setting={setting} showRules={rules.open} />
      )}
      {rules.dialog}
      {help.value && (
        <KeyHelp
          bindings={bindings}
          close={() => {
            help.value = false;
          }}
        />
      )}
    </div>
  );
}

/** The view of a match, loaded when the match is over: soon there may be no server. */
function useMatchView(over: boolean): typeof MatchView | undefined {
  const [view, setView] = useState<typeof MatchView>();
  useEffect(() => {
    if (!over) return;
    import("../replay/match-view.js").then(
      (module) => setView(() => module.MatchView),
      () => undefined, // the server is gone: the page has what it shows
    );
  }, [over]);
  return view;
}

/** The moment shown before, for the animation of the next. */
function usePrevious(moment: Moment | undefined): Moment | undefined {
  const shown = useRef<{ now?: Moment | undefined; before?: Moment | undefined }>({});
  if (shown.current.now !== moment) {
    shown.current = { now: moment, before: shown.current.now };
  }
  return shown.current.before;
}

function useBindings(store: PlayStore, help: { value: boolean }): readonly Binding[] {
  return [
    {
      keys: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"],
      label: t(play, "keyArrows"),
      run: () => focusChoice(document),
    },
    { keys: ["Enter"], label: t(play, "keyEnter"), run: () => focusChoice(document) },
    { keys: ["Escape", "u"], label: t(play, "undo"), run: () => store.undo() },
    { keys: ["h"], label: t(play, "hint"), run: () => store.askHint() },
    { keys: ["Space"], label: t(play, "keySpace"), run: () => store.skip() },
    {
      keys: ["?"],
      label: t(play, "keyHelp"),
      run: () => {
        help.value = true;
      },
    },
  ];
}

/** Focuses what can be done next: the send button, a choice as a button, a lit place. */
function focusChoice(root: ParentNode): void {
  const next =
    root.querySelector<HTMLElement>("[data-send]") ??
    root.querySelector<HTMLElement>("[data-picked] [data-chip]") ??
    root.querySelector<HTMLElement>("[data-lit][tabindex='0']") ??
    root.querySelector<HTMLElement>("[data-chip]");
  next?.focus();
}

/** Scrolls to the first place that can be chosen, unless one is in sight. */
function showChoices(board: HTMLElement): void {
  const places = [...board.querySelectorAll("[data-lit]")];
  const bars = [...document.querySelectorAll(".dock, .chips:not(.placed)")];
  const end = Math.min(innerHeight, ...bars.map((bar) => bar.getBoundingClientRect().top));
  const seen = places.some((place) => {
    const { top, bottom } = place.getBoundingClientRect();
    return top >= 0 && bottom <= end;
  });
  if (seen) return;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  places[0]?.scrollIntoView({ block: "center", behavior: still ? "auto" : "smooth" });
}

/** Brings what can be chosen into sight; after a choice by keyboard, the focus moves there. */
function useFocus(store: PlayStore, board: { readonly current: HTMLElement | null }): void {
  const keyboard = useRef(false);
  useEffect(() => {
    const pressed = () => {
      keyboard.current = true;
    };
    const pointed = () => {
      keyboard.current = false;
    };
    document.addEventListener("keydown", pressed, true);
    document.addEventListener("pointerdown", pointed, true);
    return () => {
      document.removeEventListener("keydown", pressed, true);
      document.removeEventListener("pointerdown", pointed, true);
    };
  }, []);
  const decision = store.decision.value;
  const picked = store.picked.value;
  const ready = store.ready.value;
  useEffect(() => {
    if (board.current === null || (decision === undefined && !ready)) return;
    if (decision !== undefined) showChoices(board.current);
    if (!keyboard.current) return;
    if (document.activeElement?.closest("dialog, select") != null) return;
    focusChoice(document);
  }, [decision, picked, ready]);
}

function Head({
  store,
  setting,
  moment,
  showKeys,
  showRules,
}: {
  readonly store: PlayStore;
  readonly setting: MatchSetting;
  readonly moment: Moment;
  readonly showKeys: () => void;
  readonly showRules: () => void;
}) {
  const { year } = moment.table.publicView;
  return (
    <header class="play-head">
      <h1>
        <a href="/">ASARA</a>
      </h1>
      <p>
        <b>{t(replay, "yearOf", { year, years: setting.edition.years })}</b>
        <span class="quiet">{rulesName(setting.ruleSets)}</span>
        <ClockFace store={store} />
      </p>
      <div class="choices">
        <button type="button" class="plain" onClick={showRules}>
          {t(common, "rules")}
        </button>
        <button type="button" class="plain keys" onClick={showKeys} title={t(replay, "keys")}>
          <span aria-hidden="true">?</span>
          <span class="unseen">{t(replay, "keys")}</span>
        </button>
        <Preferences />
      </div>
    </header>
  );
}

/** What is wrong now: a broken connection, a rejected turn. */
function Notices({ store }: { readonly store: PlayStore }) {
  const { rejection, stage } = store.session.value;
  if (stage === "over" && store.session.value.ended?.void !== true) return null;
  const trouble = troubleOf(store);
  if (trouble !== undefined) {
    return (
      <p class="notice bad" role="alert">
        <b>{trouble.title}.</b> {trouble.text}
      </p>
    );
  }
  if (rejection !== undefined) {
    return (
      <p class="notice bad" role="alert">
        {t(play, "rejected", { reason: rejectionText(rejection.reason) })}
      </p>
    );
  }
  return null;
}
