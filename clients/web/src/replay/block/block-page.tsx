/** The matches of a block side by side, in step. */

import { type Signal, signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Board } from "../../board/board.js";
import { runPath, ServerError } from "../../match/api.js";
import type { MatchRecord, Viewer } from "../../match/model.js";
import { actingSeat } from "../../match/places.js";
import { pathOf } from "../../router.js";
import { RulesButton } from "../../rules/rules-button.js";
import * as settings from "../../settings.js";
import { Icon, IconButton } from "../../ui/icons.js";
import { type Binding, KeyHelp, useKeys } from "../../ui/keyboard.js";
import { isolate, t } from "../../words/language.js";
import { replay } from "../../words/sections/replay.js";
import { Preferences, UpLink } from "../header.js";
import { fragmentOf, parseViewer, viewerText } from "../links.js";
import { sentences } from "../panel.js";
import { SPEEDS } from "../player.js";
import { fetchRecord, get } from "../server-source.js";
import { partings, type StepBy, type Steps, stepsOf } from "./compare.js";
import "../replay.css";
import "../../ui/seat-name.css";
import "./block.css";

const MOST_MATCHES = 4;
const STEP_MS = 1400;

export interface BlockPageProps {
  readonly run: string;
  readonly block: string;
}

type Loaded =
  | { readonly kind: "loading" }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "there"; readonly records: readonly MatchRecord[] };

export function BlockPage({ run, block }: BlockPageProps) {
  const [loaded, setLoaded] = useState<Loaded>({ kind: "loading" });
  useEffect(() => {
    let current = true;
    const show = (next: Loaded) => {
      if (current) setLoaded(next);
    };
    const viewer = parseViewer(settings.viewer.value) ?? { kind: "everybody" };
    load(run, block, viewer.kind === "open" ? viewer : { kind: "everybody" }).then(
      (records) => show({ kind: "there", records }),
      (error: unknown) => {
        const reason = error instanceof ServerError ? error.message : t(replay, "damaged");
        show({ kind: "failed", reason });
      },
    );
    return () => {
      current = false;
    };
  }, [run, block]);
  if (loaded.kind === "there") return <Block run={run} block={block} records={loaded.records} />;
  return (
    <main class="match-state">
      <p role={loaded.kind === "failed" ? "alert" : "status"}>
        {loaded.kind === "failed"
          ? t(replay, "failed", { reason: loaded.reason })
          : t(replay, "loading")}
      </p>
    </main>
  );
}

async function load(run: string, block: string, viewer: Viewer): Promise<readonly MatchRecord[]> {
  const response = await get(`${runPath(run)}/blocks/${encodeURIComponent(block)}`);
  const names = matchNames(await response.json());
  return Promise.all(names.slice(0, MOST_MATCHES).map((name) => fetchRecord(run, name, viewer)));
}

/** Names of the matches in the server's answer. */
function matchNames(answer: { matches?: readonly { match?: unknown; name?: unknown }[] }) {
  return (answer.matches ?? [])
    .map(({ match, name }) => match ?? name)
    .filter((name): name is string => typeof name === "string");
}

/** What the controls of the block work on. */
class BlockStore {
  readonly step: Signal<number> = signal(0);
  readonly by: Signal<StepBy> = signal<StepBy>("turn");
  readonly playing = signal(false);
  /** Match shown on a narrow screen. */
  readonly shown = signal(0);
  /** Largest step so far. Without spoilers, later ones are not shown. */
  readonly farthest = signal(0);
  readonly parting: readonly number[] | undefined;

  constructor(readonly records: readonly MatchRecord[]) {
    this.parting = partings(records);
  }

  get steps(): Steps {
    return stepsOf(this.records, this.by.value);
  }

  /** The step that shows the first difference. */
  get partingStep(): number | undefined {
    const { parting } = this;
    if (parting === undefined) return undefined;
    return Math.min(...parting.map((moment, match) => this.steps.stepOf(match, moment)));
  }

  get hidesEnd(): boolean {
    return settings.spoilerFree.value && this.farthest.value < this.steps.count - 1;
  }

  get last(): number {
    return this.hidesEnd ? this.farthest.value : this.steps.count - 1;
  }

  goTo(step: number, playing = false): void {
    this.step.value = Math.min(Math.max(step, 0), this.steps.count - 1);
    this.farthest.value = Math.max(this.farthest.value, this.step.value);
    this.playing.value = playing && this.step.value < this.steps.count - 1;
  }

  toggle(): void {
    const again = !this.playing.value && this.step.value === this.steps.count - 1;
    if (again) this.step.value = 0;
    this.playing.value = !this.playing.value;
  }

  toParting(): void {
    if (this.partingStep !== undefined) this.goTo(this.partingStep);
  }

  setBy(by: StepBy): void {
    const moment = this.steps.at(0, this.step.value);
    this.by.value = by;
    this.farthest.value = 0;
    this.goTo(this.steps.stepOf(0, moment));
  }
}

interface BlockProps {
  readonly run: string;
  readonly block: string;
  readonly records: readonly MatchRecord[];
}

function Block({ run, block, records }: BlockProps) {
  const store = useMemo(() => new BlockStore(records), [records]);
  const [helped, setHelped] = useState(false);
  useEffect(() => {
    document.title = `${block} – ASARA`;
  }, [block]);
  const playing = store.playing.value;
  const step = store.step.value;
  useEffect(() => {
    if (!playing) return undefined;
    const next = () => store.goTo(step + 1, true);
    const timer = setTimeout(next, STEP_MS / settings.speed.value);
    return () => clearTimeout(timer);
  }, [store, playing, step]);
  const bindings = keysOf(store, () => setHelped(true));
  useKeys(bindings);
  return (
    <div class="match block">
      <header class="match-head">
        <UpLink to={pathOf({ page: "matches", run })} label={t(replay, "allMatches")} />
        <div class="match-title">
          <h1>{t(replay, "sideBySide")}</h1>
          <p class="quiet">
            <bdi>{block}</bdi>
          </p>
        </div>
        {records[0] !== undefined && <RulesButton setting={records[0].setting} />}
        <div class="choices">
          <Switch store={store} />
          <StepChoice store={store} />
          <IconButton
            class="keys"
            glyph="keys"
            label={t(replay, "keys")}
            onClick={() => setHelped(true)}
          />
          <Preferences />
        </div>
      </header>
      <main class="block-main">
        {records.map((record, match) => (
          <Side key={record.setting.matchId} store={store} run={run} match={match} />
        ))}
      </main>
      <BlockBar store={store} />
      {helped && <KeyHelp bindings={bindings} close={() => setHelped(false)} />}
    </div>
  );
}

/** Chooses the match on a narrow screen. */
function Switch({ store }: { store: BlockStore }) {
  return (
    <select
      class="block-switch"
      aria-label={t(replay, "shownMatch")}
      value={String(store.shown.value)}
      onChange={(event) => {
        store.shown.value = Number(event.currentTarget.value);
      }}
    >
      {store.records.map(({ setting }, match) => (
        // The names are in the order of the seats, in which the matches differ.
        <option key={setting.matchId} value={String(match)}>
          {`${match + 1}: ${setting.entries.map(isolate).join(" · ")}`}
        </option>
      ))}
    </select>
  );
}

function StepChoice({ store }: { store: BlockStore }) {
  return (
    <label class="choice">
      <span class="text">{t(replay, "stepBy")}</span>
      <select
        aria-label={t(replay, "stepBy")}
        value={store.by.value}
        onChange={(event) => store.setBy(event.currentTarget.value === "turn" ? "turn" : "moment")}
      >
        <option value="turn">{t(replay, "byTurn")}</option>
        <option value="moment">{t(replay, "byMoment")}</option>
      </select>
    </label>
  );
}

function Side({ store, run, match }: { store: BlockStore; run: string; match: number }) {
  const record = store.records[match];
  const index = store.steps.at(match, store.step.value);
  const moment = record?.moments[index];
  if (record === undefined || moment === undefined) return null;
  const { setting } = record;
  const before = record.moments[store.steps.at(match, store.step.value - 1)];
  const parted = store.parting?.[match];
  const parting = parted !== undefined && store.partingStep === store.step.value;
  const path = `/runs/${encodeURIComponent(run)}/matches/${encodeURIComponent(setting.matchId)}`;
  const link = `${path}?viewer=${viewerText(setting.viewer)}${fragmentOf(moment)}`;
  const from = Math.max((before?.index ?? -1) + 1, 0);
  const told = record.moments.slice(Math.min(from, index), index + 1);
  return (
    <section
      class={`side${match === store.shown.value ? " shown" : ""}${parting ? " parting" : ""}`}
      aria-label={t(replay, "match", { match: isolate(setting.matchId) })}
    >
      <header>
        <h2>
          {setting.entries.map((name, seat) => (
            <span key={seat} class={`seat-name seat-${seat}`}>
              <bdi>{name}</bdi>
            </span>
          ))}
        </h2>
        <a href={link}>{t(replay, "openMatch")}</a>
      </header>
      <div>
        {parting && <p class="parts">{t(replay, "parts")}</p>}
        <p class="told">{told.flatMap((each) => sentences(each, record)).join(" ")}</p>
      </div>
      <Board
        setting={setting}
        moment={moment}
        previous={before}
        animate={false}
        litSeat={actingSeat(moment)}
      />
    </section>
  );
}

function BlockBar({ store }: { store: BlockStore }) {
  const { last, hidesEnd, partingStep } = store;
  const step = store.step.value;
  const playing = store.playing.value;
  const text = t(replay, "turn", { turn: step });
  const shownParting = partingStep !== undefined && partingStep <= last;
  return (
    <footer class="bar">
      <p class="unseen" aria-live="polite">
        {text}
        {step === partingStep && ` ${t(replay, "parts")}`}
      </p>
      <div class="scrub">
        <div class="marks" aria-hidden="true">
          {shownParting && (
            <span class="mark award" style={{ "--at": last === 0 ? 0 : partingStep / last }} />
          )}
        </div>
        <input
          type="range"
          min={0}
          max={Math.max(last, 1)}
          value={step}
          style={{ "--at": last === 0 ? 0 : step / last }}
          disabled={last === 0}
          aria-label={t(replay, "position")}
          aria-valuetext={text}
          onInput={(event) => store.goTo(event.currentTarget.valueAsNumber)}
        />
      </div>
      <div class="bar-row">
        <fieldset class="controls">
          <legend class="unseen">{t(replay, "controls")}</legend>
          <IconButton glyph="end" back label={t(replay, "first")} onClick={() => store.goTo(0)} />
          <IconButton
            glyph="step"
            back
            label={t(replay, "stepBack")}
            onClick={() => store.goTo(step - 1)}
          />
          <IconButton
            class="play"
            glyph={playing ? "pause" : "play"}
            label={t(replay, playing ? "pause" : "play")}
            onClick={() => store.toggle()}
          />
          <IconButton
            glyph="step"
            label={t(replay, "stepOn")}
            onClick={() => store.goTo(step + 1)}
          />
        </fieldset>
        <div class="bar-end">
          {partingStep === undefined && !hidesEnd && <span class="quiet">{t(replay, "same")}</span>}
          {partingStep !== undefined && (
            <button
              type="button"
              class="to-parting"
              aria-label={t(replay, "toParts")}
              onClick={() => store.toParting()}
            >
              <Icon glyph="columns" />
              <span class="text">{t(replay, "toParts")}</span>
            </button>
          )}
          <select
            class="speed"
            aria-label={t(replay, "speed")}
            value={String(settings.speed.value)}
            onChange={(event) => {
              const chosen = SPEEDS.find((each) => String(each) === event.currentTarget.value);
              if (chosen !== undefined) settings.speed.value = chosen;
            }}
          >
            {SPEEDS.map((speed) => (
              <option key={speed} value={String(speed)}>
                {speed}×
              </option>
            ))}
          </select>
        </div>
      </div>
    </footer>
  );
}

function keysOf(store: BlockStore, help: () => void): readonly Binding[] {
  const move = (by: number) => () => store.goTo(store.step.value + by);
  const next = () => {
    store.shown.value = (store.shown.value + 1) % store.records.length;
  };
  return [
    { keys: ["Space"], label: t(replay, "play"), run: () => store.toggle() },
    { keys: ["ArrowRight"], label: t(replay, "stepOn"), run: move(1) },
    { keys: ["ArrowLeft"], label: t(replay, "stepBack"), run: move(-1) },
    { keys: ["Home"], label: t(replay, "first"), run: () => store.goTo(0) },
    { keys: ["End"], label: t(replay, "last"), run: () => store.goTo(store.last) },
    { keys: ["d"], label: t(replay, "toParts"), run: () => store.toParting() },
    { keys: ["m"], label: t(replay, "shownMatch"), run: next },
    { keys: ["?"], label: t(replay, "keys"), run: help },
  ];
}
