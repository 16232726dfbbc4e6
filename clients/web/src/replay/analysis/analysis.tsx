/** What a match was decided by: the curve over the scrub bar, the marks, and sentences about them. */

import type { ComponentChildren } from "preact";
import type { MatchRecord, Moment } from "../../match/model.js";
import { t } from "../../words/language.js";
import { interval } from "../../words/numbers.js";
import { replay } from "../../words/sections/replay.js";
import { choiceSentence } from "../../words/sentences.js";
import {
  betterAt,
  decisive,
  expectedAt,
  markSentence,
  notesAt,
  type Placed,
  type PlacedPoint,
  placed,
  strokeSentence,
} from "./analysed.js";
import "./analysis.css";
import { fragmentOf } from "../links.js";

export { betterAt, notesAt, placed };

/** What is used of a match page's state, which loads this file and so is not imported. */
interface Place {
  readonly record: { readonly value: MatchRecord };
  readonly moment: { readonly value: Moment };
  readonly course: { readonly value: { readonly length: number } };
  readonly landmarks: { readonly value: { readonly years: readonly number[] } };
  readonly atResult: { readonly value: boolean };
  readonly linked: boolean;
  readonly you?: number | undefined;
  readonly goTo: (index: number) => void;
}

interface Props {
  readonly store: Place;
  readonly analysed: Placed;
}

const WIDTH = 1000;
const HEIGHT = 100;
const SNAP_PX = 12; // a click this near to a mark goes there

/** Expected scores by seat over the scrub bar, with bands of error and marks to jump to. */
export function Curve({ store, analysed }: Props): ComponentChildren {
  const { course, marks, strokes } = analysed;
  const record = store.record.value;
  const last = Math.max(store.course.value.length - 1, 1);
  const at = (index: number) => ({ "--at": index / last });
  const up = (seat: number, index: number) => {
    const points = course[seat] ?? [];
    const point = points.findLast((each) => each.at <= index) ?? points[0];
    return { ...at(index), "--up": point?.expected[0] ?? 0.5 };
  };
  const go = (event: MouseEvent & { readonly currentTarget: HTMLElement }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const x = ((event.clientX - left) / width) * last;
    const away = (one: { readonly at: number }) => Math.abs(one.at - x);
    const [nearest] = [...marks, ...strokes].sort((a, b) => away(a) - away(b));
    const near = nearest !== undefined && away(nearest) < (SNAP_PX / width) * last;
    store.goTo(near ? nearest.at : Math.round(x));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: the slider and the keys of the page lead to the same moments
    <div class="curve" onClick={go}>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t(replay, "expected")}
      >
        <path class="level" d={`M0 ${HEIGHT / 2}H${WIDTH}`} />
        {store.landmarks.value.years.slice(1).map((index) => (
          <path key={index} class="level" d={`M${(index / last) * WIDTH} 0V${HEIGHT}`} />
        ))}
        {course.map((points, seat) => (
          <g key={seat} class={`seat-${seat}`}>
            <path class="band" d={bandOf(points, last)} />
            <path class="line" d={lineOf(points, last)} />
          </g>
        ))}
      </svg>
      <span class="here" style={at(store.moment.value.index)} />
      {strokes.map((one, order) => (
        <span
          key={`luck ${order}`}
          class={`flag luck seat-${one.seat}`}
          style={up(one.seat, one.at)}
          title={strokeSentence(one, record)}
        />
      ))}
      {[...marks]
        .sort((a, b) => a.cost[0] - b.cost[0])
        .map((one) => (
          <span
            key={`${one.seat} ${one.sequence} ${one.better}`}
            class={`flag ${one.label} seat-${one.seat}`}
            style={up(one.seat, one.at)}
            title={markSentence(one, record)}
          />
        ))}
    </div>
  );
}

function spot(at: number, score: number, last: number): string {
  const y = HEIGHT * (0.95 - 0.9 * Math.min(Math.max(score, 0), 1)); // room for the lines' width
  return `${((at / last) * WIDTH).toFixed(1)} ${y.toFixed(1)}`;
}

function lineOf(points: readonly PlacedPoint[], last: number): string {
  if (points.length === 0) return "";
  return `M${points.map(({ at, expected: [middle] }) => spot(at, middle, last)).join("L")}`;
}

function bandOf(points: readonly PlacedPoint[], last: number): string {
  if (points.length === 0) return "";
  const edge = (side: 1 | -1) =>
    points.map(({ at, expected: [middle, margin] }) => spot(at, middle + side * margin, last));
  return `M${[...edge(1), ...edge(-1).reverse()].join("L")}z`;
}

/** What the analysis says about the moment: its marks, and the score that each seat can expect. */
export function Note({ store, analysed }: Props): ComponentChildren {
  const record = store.record.value;
  const { index } = store.moment.value;
  const notes = notesAt(analysed, index, record);
  const expected = expectedAt(analysed, index);
  if (store.atResult.value) return null;
  return (
    <section class="analysis" aria-labelledby="expected">
      {notes.map((note) => (
        <p key={note} class="note">
          {note}
        </p>
      ))}
      <h2 id="expected" title={t(replay, "expectedHelp")}>
        {t(replay, "expected")}
      </h2>
      <dl title={t(replay, "expectedHelp")}>
        {expected.map(
          (score, seat) =>
            score !== undefined && (
              <div key={seat}>
                <dt class={`seat-name seat-${seat}`}>
                  <bdi>{record.setting.entries[seat]}</bdi>
                </dt>
                <dd class="number">{interval(score)}</dd>
              </div>
            ),
        )}
      </dl>
    </section>
  );
}

/** A seat's sums, below its rank. */
export function Sums({ analysed, seat }: Pick<Props, "analysed"> & { seat: number }) {
  const sum = analysed.sums.find((each) => each.seat === seat);
  if (sum === undefined) return null;
  return (
    <small class="sums">
      <span>
        {t(replay, "certainMistakes", { count: sum.marks })}
        {sum.marks > 0 && `: ${interval([-sum.lost[0], sum.lost[1]])}`}
      </span>
      {sum.luck !== null && <span>{t(replay, "lucky", { share: interval(sum.luck, true) })}</span>}
    </small>
  );
}

/** What changed the result most, below the ranks. */
export function Decisive({ store, analysed }: Props) {
  const record = store.record.value;
  const found = decisive(analysed);
  return (
    <section class="decisive" aria-labelledby="decisive">
      <h2 id="decisive">{t(replay, "decisive")}</h2>
      {found.length === 0 && <p>{t(replay, "noMistake")}</p>}
      <ol>
        {found.map((one) => {
          const moment = record.moments[one.at];
          if (moment === undefined) return null;
          const sentence = "cost" in one ? markSentence(one, record) : strokeSentence(one, record);
          return (
            <li key={`${one.seat} ${one.sequence}`}>
              <b>{t(replay, "year", { year: moment.table.publicView.year })}</b>{" "}
              {store.linked ? <a href={fragmentOf(moment)}>{sentence}</a> : sentence}{" "}
              {"cost" in one && moment.decision !== undefined && (
                <span class="quiet">
                  {choiceSentence(one.seat, moment.decision.actions, {
                    setting: record.setting,
                    you: store.you,
                  })}
                </span>
              )}
            </li>
          );
        })}
      </ol>
      <p class="quiet">{t(replay, "expectedHelp")}</p>
    </section>
  );
}
