/** Standings and ladder as tables, with each interval drawn as a small range. */

import { t } from "../words/language.js";
import { decimal, number, percent } from "../words/numbers.js";
import { runs } from "../words/sections/runs.js";
import type { LadderRow, StandingsRow } from "./api.js";
import { MatchesLink, Name } from "./names.js";

export function StandingsTable({ run, rows }: { run: string; rows: readonly StandingsRow[] }) {
  return (
    <table class="standings">
      <thead>
        <tr>
          <th scope="col" class="number">
            <span class="unseen">{t(runs, "place")}</span>
          </th>
          <th scope="col">{t(runs, "entry")}</th>
          <th scope="col" class="number">
            {t(runs, "score")}
          </th>
          <th scope="col" class="range-column">
            {t(runs, "range95")}
          </th>
          <th scope="col" class="number extra" title={t(runs, "ranksHelp")}>
            {t(runs, "ranks")}
          </th>
          <th scope="col" class="number extra" title={t(runs, "firstHelp")}>
            {t(runs, "first")}
          </th>
          <th scope="col" class="number extra">
            {t(runs, "wins")}
          </th>
          <th scope="col" class="number extra">
            {t(runs, "prestige")}
          </th>
          <th scope="col" class="number extra">
            {t(runs, "matches")}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.entry} run={run} row={row} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ run, row }: { run: string; row: StandingsRow }) {
  const played = row.matches > 0;
  return (
    <tr class={row.place === 1 && played ? "leading" : ""}>
      <td class="number place">{played ? row.place : "–"}</td>
      <th scope="row">
        <MatchesLink run={run} filter={{ entry: row.entry }}>
          <Name of={row.entry} />
        </MatchesLink>
      </th>
      <td class="number score">{played ? decimal(row.score, 3) : "–"}</td>
      <td class="range-column">
        {row.interval_95 && (
          <Range
            low={row.interval_95[0]}
            high={row.interval_95[1]}
            value={row.score}
            text={(score) => decimal(score, 2)}
          />
        )}
      </td>
      <td class="number extra">{played ? rankSet(row.ranks) : "–"}</td>
      <td class="number extra">{played ? chance(row.first_chance) : "–"}</td>
      <td class="number extra">{played ? percent(row.win_share) : "–"}</td>
      <td class="number extra">{row.prestige === null ? "–" : decimal(row.prestige, 1)}</td>
      <td class="number extra">{number(row.matches)}</td>
    </tr>
  );
}

/** Who is first; while other ranks are possible, only who has the best score, and these ranks. */
export function leaderText(name: string, ranks: StandingsRow["ranks"]): string {
  if (ranks?.[1] === 1) return t(runs, "leader", { name });
  return t(runs, "bestScore", { name, ranks: rankSet(ranks) });
}

function rankSet(ranks: StandingsRow["ranks"]): string {
  if (ranks === null) return "–";
  const [best, worst] = ranks;
  return best === worst
    ? number(best)
    : t(runs, "range", { low: number(best), high: number(worst) });
}

function chance(share: number | null): string {
  if (share === null) return "–";
  return share > 0 && share < 0.01 ? `< ${percent(0.01)}` : percent(share);
}

interface RangeProps {
  readonly low: number;
  readonly high: number;
  readonly value: number;
  /** Ends of the scale. */
  readonly from?: number;
  readonly to?: number;
  readonly text: (value: number) => string;
}

/** A range with a mark at its value; its ends are also text. */
export function Range({ low, high, value, from = 0, to = 1, text: written }: RangeProps) {
  const at = (each: number) => `${(100 * (each - from)) / (to - from || 1)}%`;
  const text = t(runs, "range", { low: written(low), high: written(high) });
  return (
    <div class="range" title={text}>
      <div class="range-scale" aria-hidden="true">
        <div
          class="range-line"
          style={{ left: at(low), width: `${(100 * (high - low)) / (to - from || 1)}%` }}
        />
        <div class="range-mark" style={{ left: at(value) }} />
      </div>
      <span class="unseen">{text}</span>
    </div>
  );
}

export function Ladder({ rows }: { rows: readonly LadderRow[] }) {
  const ends = rows.flatMap(({ interval_95, rating }) => interval_95 ?? rating ?? []);
  const from = Math.min(...ends);
  const to = Math.max(...ends);
  return (
    <table class="ladder">
      <thead>
        <tr>
          <th scope="col">{t(runs, "entry")}</th>
          <th scope="col" class="number">
            {t(runs, "rating")}
          </th>
          <th scope="col" class="range-column">
            {t(runs, "range95")}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ entry, rating, interval_95 }) => (
          <tr key={entry}>
            <th scope="row">
              <Name of={entry} />
            </th>
            <td class="number">{rating === null ? "–" : decimal(rating, 0)}</td>
            <td class="range-column">
              {rating !== null && interval_95 && (
                <Range
                  low={interval_95[0]}
                  high={interval_95[1]}
                  value={rating}
                  from={from}
                  to={to}
                  text={(rating) => decimal(rating, 0)}
                />
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
