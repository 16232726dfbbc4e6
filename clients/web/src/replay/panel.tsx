/** What happened, in words, and the decision that led to it. */

import { equals } from "@bufbuild/protobuf";
import { RejectionReason } from "asara/gen/play_pb.js";
import type { ReplayDecision } from "asara/gen/replay_view_pb.js";
import { type Action, ActionSchema } from "asara/gen/vocabulary_pb.js";
import { useEffect, useRef } from "preact/hooks";
import type { MatchRecord, MatchSetting, Moment, Viewer } from "../match/model.js";
import { actingSeat } from "../match/places.js";
import { useMore } from "../ui/more.js";
import { Referee } from "../ui/referee.js";
import { isolate, t } from "../words/language.js";
import { clock, duration, isClock } from "../words/numbers.js";
import { replay } from "../words/sections/replay.js";
import {
  actionSentence,
  choiceSentence,
  decisionTitle,
  momentSentences,
  rejectionText,
  seatName,
} from "../words/sentences.js";
import { tableText } from "../words/table.js";
import "../ui/seat-name.css";
import { fragmentOf } from "./links.js";
import type { MatchStore } from "./store.js";

const MOST_BEFORE = 6; // moments of the turn that are shown before the current one

interface Props {
  readonly store: MatchStore;
}

/** Sentences about a moment; at least one. */
export function sentences(moment: Moment, { setting, moments }: MatchRecord): readonly string[] {
  if (moment.index === 0) return [t(replay, "start")];
  const told = momentSentences(moment, setting, moments[moment.index - 1]);
  if (told.length > 0) return told;
  return [
    moment.decision === undefined ? t(replay, "quiet") : decisionLine(moment.decision, setting),
  ];
}

function decisionLine(decision: ReplayDecision, setting: MatchSetting): string {
  const { seat, actions } = decision;
  if (!rejected(decision) && actions.length > 0) return choiceSentence(seat, actions, { setting });
  const answer = rejected(decision) ? rejectedText(decision) : t(replay, "unanswered");
  return `${seatName(seat, setting)}: ${answer}`;
}

function rejectedText({ rejection }: ReplayDecision): string {
  return t(replay, "rejected", { reason: rejectionText(rejection) });
}

/** Scrolls a long list, and nothing else, to the chosen action. */
function showChosen(list: HTMLUListElement | null): void {
  const chosen = list?.querySelector<HTMLElement>(".chosen");
  if (list === null || !chosen) return;
  list.scrollTop =
    chosen.offsetTop - list.offsetTop - (list.clientHeight - chosen.clientHeight) / 2;
}

function rejected({ rejection }: ReplayDecision): boolean {
  return rejection !== RejectionReason.UNSPECIFIED;
}

/** The moments of the turn so far, the current one last. */
export function Happened({ store }: Props) {
  const record = store.record.value;
  const moment = store.moment.value;
  const { turns, years } = store.landmarks.value;
  const begin = Math.max(
    turns.findLast((index) => index <= moment.index) ?? 0,
    years.findLast((index) => index <= moment.index) ?? 0,
    moment.index - MOST_BEFORE,
  );
  return (
    <section class="happened" aria-labelledby="happened">
      <h2 id="happened">{t(replay, "happened")}</h2>
      <ol>
        {record.moments.slice(begin, moment.index + 1).map((each) => (
          <li key={each.index} aria-current={each === moment ? "step" : undefined}>
            <Sentences moment={each} record={record} link={each !== moment} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Sentences(props: { moment: Moment; record: MatchRecord; link: boolean }) {
  const { moment, record, link } = props;
  const lines = sentences(moment, record);
  if (link) return <a href={fragmentOf(moment)}>{lines.join(" ")}</a>;
  return (
    <>
      {lines.map((line, order) => (
        <p key={order}>{line}</p>
      ))}
    </>
  );
}

/**
 * The decision answered in this moment, with all that the viewer may know of it; of a seat that this
 * view does not show, the way to the one that does.
 */
export function Decision({ store }: Props) {
  const record = store.record.value;
  const { decision, steward } = store.moment.value;
  const seat = actingSeat(store.moment.value);
  const hidden = decision === undefined && steward === undefined;
  const other = hidden && seat !== undefined && viewerOf(store, seat);
  if (decision === undefined && !other) return seat === undefined && <SeatViews store={store} />;
  return (
    <section class="decision" aria-labelledby="decision">
      <h2 id="decision">{t(replay, "decision")}</h2>
      {decision !== undefined && (
        <DecisionDetails decision={decision} record={record} steward={steward === decision.seat} />
      )}
      {other && (
        <button type="button" onClick={() => store.show(other)}>
          {t(replay, "showDecision", { name: seatName(seat, record.setting) })}
        </button>
      )}
    </section>
  );
}

/** The ways from a view without decisions to those that show them. */
function SeatViews({ store }: Props) {
  const { viewer, entries } = store.record.value.setting;
  const seats = entries.flatMap((name, seat) => (viewerOf(store, seat) ? [{ name, seat }] : []));
  if (viewer.kind !== "everybody" || seats.length === 0) return null;
  return (
    <section class="decision" aria-labelledby="decision">
      <h2 id="decision">{t(replay, "decisions")}</h2>
      <p class="quiet">{t(replay, "seatViews")}</p>
      <div class="seat-views">
        {seats.map(({ name, seat }) => (
          <button key={seat} type="button" onClick={() => store.show({ kind: "seat", seat })}>
            {t(replay, "viewOf", { name: isolate(name) })}
          </button>
        ))}
      </div>
    </section>
  );
}

/** The viewer who sees the decisions of a seat, if this page can show that view. */
function viewerOf({ source }: MatchStore, seat: number): Viewer | undefined {
  return source.viewers.value.find((each) => each.kind === "seat" && each.seat === seat);
}

interface DetailsProps {
  readonly decision: ReplayDecision;
  readonly record: MatchRecord;
  /** True if the steward moved instead of the seat. */
  readonly steward: boolean;
}

function DecisionDetails({ decision, record, steward }: DetailsProps) {
  const name = record.setting.entries[decision.seat] ?? "";
  const [first] = decision.actions;
  const text = (action: Action) => actionSentence(action, record);
  const isChosen = (action: Action) =>
    first !== undefined && !rejected(decision) && equals(ActionSchema, action, first);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => showChosen(list.current), [decision]);
  useMore(list);
  return (
    <>
      <p class="quiet">
        <b class={`seat-name seat-${decision.seat}`}>
          <bdi>{name}</bdi>
        </b>{" "}
        {decisionTitle(decision.kind)}
      </p>
      <TimeUsed decision={decision} />
      {rejected(decision) && (
        <p class="rejected">
          {rejectedText(decision)}.
          {decision.detail !== "" && (
            <>
              <br />
              <Referee words={decision.detail} />
            </>
          )}
        </p>
      )}
      {!rejected(decision) && (
        <p class="choice-made">
          {choiceSentence(decision.seat, decision.actions, record) || t(replay, "unanswered")}
        </p>
      )}
      {steward && <p class="choice-made">{t(replay, "stewardChose")}</p>}
      {decision.log !== "" && (
        <details class="bot-log" open>
          <summary>{t(replay, "log")}</summary>
          <pre
            dir="auto"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys
            tabIndex={0}
          >
            {decision.log}
          </pre>
        </details>
      )}
      <p class="quiet">{t(replay, "legal", { count: decision.legalActions.length })}</p>
      <ul
        class="actions"
        ref={list}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys
        tabIndex={0}
        aria-label={t(replay, "legal", { count: decision.legalActions.length })}
      >
        {decision.legalActions.map((action, order) => (
          <li key={order} class={isChosen(action) ? "chosen" : undefined}>
            {text(action)}
            {isChosen(action) && <small> {t(replay, "chosen")}</small>}
          </li>
        ))}
      </ul>
    </>
  );
}

/** The time as a share of the clock. */
function TimeUsed({ decision }: { decision: ReplayDecision }) {
  const used = Number(decision.botUs);
  const left = Number(decision.clockUs);
  const timed = left > 0 && isClock(left);
  const share = timed ? Math.min(used / left, 1) : 0;
  return (
    <div class="time">
      {timed && (
        <span class="time-bar" aria-hidden="true">
          <span style={{ "--share": share }} />
        </span>
      )}
      <span>{t(replay, "time", { time: duration(used) })}</span>
      {timed && <span class="quiet">{t(replay, "clock", { time: clock(left) })}</span>}
    </div>
  );
}

/** The table in sentences, for everybody who does not see the drawing. */
export function TableText({ store }: Props) {
  const moment = store.moment.value;
  const { setting } = store.record.value;
  return (
    <details class="table-text">
      <summary>{t(replay, "table")}</summary>
      {tableText(moment.table, setting).map(({ heading, lines }, order) => (
        <section key={order}>
          <h3>{heading}</h3>
          <ul>
            {lines.map((line, number) => (
              <li key={number}>{line}</li>
            ))}
          </ul>
        </section>
      ))}
    </details>
  );
}
