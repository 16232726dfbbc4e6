/** The cross table: the score of every entry against every other, as numbers on a scale of colour. */

import { useRef } from "preact/hooks";
import { useMore } from "../ui/more.js";
import { isolate, t } from "../words/language.js";
import { percent } from "../words/numbers.js";
import { runs } from "../words/sections/runs.js";
import type { Standings } from "./api.js";
import { MatchesLink, Name } from "./names.js";

interface Cell {
  readonly score: number;
  readonly matches: number;
}

/** Returns the cells by row and column, in both directions. */
export function cells({ cross_table: pairs }: Pick<Standings, "cross_table">): Map<string, Cell> {
  const found = new Map<string, Cell>();
  for (const { entry, opponent, score, matches } of pairs) {
    found.set(cellKey(entry, opponent), { score, matches });
    found.set(cellKey(opponent, entry), { score: 1 - score, matches });
  }
  return found;
}

export function cellKey(row: string, column: string): string {
  return JSON.stringify([row, column]);
}

const DENSE = 24; // entries above which a cell has no room for its number

export function CrossTable({ run, standings }: { run: string; standings: Standings }) {
  const names = standings.overall.map((row) => row.entry);
  const found = cells(standings);
  const dense = names.length > DENSE;
  const box = useRef<HTMLDivElement>(null);
  useMore(box);
  return (
    // A wide table scrolls in its own frame, which the keyboard must reach.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <div class="scroll" ref={box} role="group" tabIndex={0} aria-label={t(runs, "crossTable")}>
      <table class={dense ? "cross dense" : "cross"}>
        <thead>
          <tr>
            <td />
            <td />
            {names.map((name, place) => (
              <th key={name} scope="col" title={name}>
                <span aria-hidden="true">{!dense || place % 5 === 4 ? place + 1 : ""}</span>
                <span class="unseen">
                  <Name of={name} />
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map((row, place) => (
            <tr key={row}>
              <td class="number quiet" aria-hidden="true">
                {place + 1}
              </td>
              <th scope="row">
                <Name of={row} />
              </th>
              {names.map((column) => (
                <CrossCell key={column} {...{ run, row, column, found, dense }} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface CellProps {
  readonly run: string;
  readonly row: string;
  readonly column: string;
  readonly found: Map<string, Cell>;
  readonly dense: boolean;
}

function CrossCell({ run, row, column, found, dense }: CellProps) {
  if (row === column) return <td class="same" aria-hidden="true" />;
  const cell = found.get(cellKey(row, column));
  const both = { row: isolate(row), column: isolate(column) };
  if (cell === undefined) return <td title={t(runs, "notMet", both)}>–</td>;
  const score = percent(cell.score);
  const title = t(runs, "crossCell", { ...both, score, count: cell.matches });
  const better = cell.score >= 0.5;
  const number = Math.round(100 * cell.score);
  return (
    <td
      title={title}
      class={`heat ${better ? "better" : "worse"}`}
      style={{ "--heat": `${Math.round(55 * Math.abs(2 * cell.score - 1))}%` }}
    >
      {dense ? (
        number
      ) : (
        <MatchesLink run={run} filter={{ entry: row, opponent: column }}>
          {number}
          <span class="unseen">{` – ${title}`}</span>
        </MatchesLink>
      )}
    </td>
  );
}
