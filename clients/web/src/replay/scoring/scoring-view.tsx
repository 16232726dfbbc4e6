/** The result, the final scoring award by award, and the table of where prestige came from. */

import { Termination } from "asara/gen/event_pb.js";
import { useEffect, useRef } from "preact/hooks";
import { TowerIcon } from "../../board/pieces.js";
import { useMore } from "../../ui/more.js";
import { t } from "../../words/language.js";
import { number } from "../../words/numbers.js";
import { replay } from "../../words/sections/replay.js";
import {
  awardPoints,
  awardTitle,
  placeText,
  terminationText,
  towerHeight,
} from "../../words/sentences.js";
import "./scoring.css";
import "../../ui/seat-name.css";
import type { MatchStore } from "../store.js";
import { ledger, type RowGroup, type RowName } from "./scoring.js";

interface Props {
  readonly store: MatchStore;
}

/** True while the awards are shown one by one. */
function scoringGoesOn({ award, awards }: MatchStore): boolean {
  return award.value !== undefined && award.value < awards.value.length;
}

/** The ranks, once the end is reached. */
export function Results({ store }: Props) {
  const { results, setting } = store.record.value;
  if (results === undefined || !store.atResult.value || scoringGoesOn(store)) return null;
  const ranked = [...results].sort((a, b) => a.rank - b.rank);
  const analysed = store.analysed.value;
  return (
    <section class="ranking" aria-labelledby="results">
      <h2 id="results">{t(replay, "results")}</h2>
      <ol>
        {ranked.map(({ seat, rank, prestige, termination }) => (
          <li key={seat} class={rank === 1 ? "winner" : undefined}>
            <span class="rank">{number(rank)}.</span>
            <b class={`seat-name seat-${seat}`}>
              <bdi>{setting.entries[seat]}</bdi>
            </b>
            <span class="number">{number(prestige)}</span>
            {termination !== Termination.COMPLETED && (
              <small class="forfeit">{terminationText(termination)}</small>
            )}
            {analysed && <analysed.parts.Sums analysed={analysed} seat={seat} />}
          </li>
        ))}
      </ol>
      {analysed && <analysed.parts.Decisive store={store} analysed={analysed} />}
    </section>
  );
}

function rowText(name: RowName): string {
  switch (name) {
    case "built":
    case "gifts":
    case "towers":
    case "gold":
    case "litWindows":
    case "patronage":
      return t(replay, name);
    default:
      return awardTitle(name);
  }
}

/** The awards, one after the other. */
export function Awards({ store }: Props) {
  const awards = store.awards.value;
  const shown = store.award.value;
  const section = useRef<HTMLElement>(null);
  const goesOn = scoringGoesOn(store);
  useEffect(() => {
    // On a phone it moves above the table when it begins.
    if (goesOn) section.current?.scrollIntoView({ block: "nearest" });
  }, [goesOn]);
  if (!store.atResult.value || awards.length === 0) return null;
  const award = shown === undefined ? undefined : awards[shown];
  return (
    <section class="awards" ref={section} aria-labelledby="awards">
      <h2 id="awards">{t(replay, "scoring")}</h2>
      {award !== undefined && shown !== undefined ? (
        <>
          <div class="award" key={shown} aria-live="polite">
            <h3>
              {awardTitle(award.name)}
              {award.prizes && <small> {awardPoints(award.prizes)}</small>}
            </h3>
            {award.prizes !== undefined && award.towers.length === 0 && (
              <p class="quiet">{t(replay, "noTower")}</p>
            )}
            <ul class="award-towers">
              {award.towers.map(({ seat, tower, place, tied }) => (
                <li key={`${seat} ${tower.number}`} class={`seat-${seat} place-${place}`}>
                  <TowerIcon tower={tower} />
                  <b class={`seat-name seat-${seat}`}>
                    <bdi>{store.record.value.setting.entries[seat]}</bdi>
                  </b>
                  <small>
                    {t(replay, "height", { height: towerHeight(tower) })}, {placeText(place, tied)}
                  </small>
                </li>
              ))}
            </ul>
            <ul class="earned">
              {award.points.map((points, seat) => (
                <li key={seat} class={points > 0 ? undefined : "quiet"}>
                  <b class={`seat-name seat-${seat}`}>
                    <bdi>{store.record.value.setting.entries[seat]}</bdi>
                  </b>
                  <span class="number">+{number(points)}</span>
                </li>
              ))}
            </ul>
          </div>
          <div class="award-row">
            <button type="button" disabled={shown === 0} onClick={() => store.showAward(shown - 1)}>
              {t(replay, "previous")}
            </button>
            <button type="button" class="primary" onClick={() => store.showAward(shown + 1)}>
              {t(replay, "next")}
            </button>
            <small>
              {number(shown + 1)} / {number(awards.length)}
            </small>
          </div>
        </>
      ) : (
        <button type="button" onClick={() => store.playAwards()}>
          {t(replay, "showAwards")}
        </button>
      )}
    </section>
  );
}

function groupText({ kind, year }: RowGroup): string {
  if (kind === "play") return t(replay, "inPlay");
  return kind === "final" ? t(replay, "scoring") : t(replay, "year", { year: year ?? 0 });
}

const ONE_LINE = 9; // characters of a name that a column of the table holds in one line

/** Where the prestige of each seat came from, up to the moment shown. */
export function Ledger({ store }: Props) {
  const record = store.record.value;
  const moment = store.moment.value;
  const groups = ledger(record, moment.index);
  const box = useRef<HTMLElement>(null);
  useMore(box);
  const { seats } = moment.table.publicView;
  const { entries } = record.setting;
  if (groups.length === 0 || scoringGoesOn(store)) return null;
  return (
    <details class="ledger" open={store.atResult.value}>
      <summary>{t(replay, "sources")}</summary>
      <section
        class="ledger-scroll"
        ref={box}
        aria-label={t(replay, "sources")}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys
        tabIndex={0}
      >
        <table>
          <thead>
            <tr>
              <td />
              {entries.map((name, seat) => (
                <th
                  key={seat}
                  scope="col"
                  class={`number seat-name seat-${seat}`}
                  style={{ whiteSpace: name.length > ONE_LINE ? "normal" : "nowrap" }}
                >
                  <bdi>{name}</bdi>
                </th>
              ))}
            </tr>
          </thead>
          {groups.map((group) => (
            <Group key={`${group.kind} ${group.year ?? ""}`} group={group} />
          ))}
          <tfoot>
            <tr>
              <th scope="row">{t(replay, "total")}</th>
              {seats.map(({ seat, prestige }) => (
                <td key={seat} class="number">
                  {number(prestige)}
                </td>
              ))}
            </tr>
          </tfoot>
        </table>
      </section>
    </details>
  );
}

function Group({ group }: { group: RowGroup }) {
  return (
    <tbody>
      <tr class="group">
        <th scope="rowgroup">{groupText(group)}</th>
        <Points points={group.sums} />
      </tr>
      {group.rows.map(({ name, points }) => (
        <tr key={name}>
          <th scope="row">{rowText(name)}</th>
          <Points points={points} />
        </tr>
      ))}
    </tbody>
  );
}

function Points({ points }: { points: readonly number[] }) {
  return (
    <>
      {points.map((each, seat) => (
        <td key={seat} class="number">
          {each === 0 ? "–" : number(each)}
        </td>
      ))}
    </>
  );
}
