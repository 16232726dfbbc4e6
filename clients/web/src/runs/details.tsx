/** What few readers need of a run: scores by seat, reasons of forfeits, times, keys and commitments. */

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { runPath } from "../match/api.js";
import { useMore } from "../ui/more.js";
import { Quoted } from "../ui/referee.js";
import { t } from "../words/language.js";
import { decimal, duration, number, percent } from "../words/numbers.js";
import { runs } from "../words/sections/runs.js";
import { type Run, type Table, type Tables, usePolled, type Value } from "./api.js";
import { Waiting } from "./frame.js";
import { faultText, Name } from "./names.js";
import { Range } from "./standings.js";

/** The same, requested from the server. */
export function RequestedDetails({ run }: { run: Run }) {
  const state = usePolled<{ readonly tables: Tables | null }>(
    `${runPath(run.name)}/details`,
    ({ tables }) => run.state === "running" || tables === null,
  ).value;
  const tables = state.value?.tables;
  if (tables) return <Details tables={tables} />;
  return state.value ? <p class="notice">{t(runs, "computing")}</p> : <Waiting state={state} />;
}

export function Details({ tables }: { tables: Tables }) {
  const facts = new Map(tables.run.rows.map(([name, value]) => [String(name), value ?? null]));
  return (
    <div class="results">
      <Part name="bySeat" table={bySeat(tables.by_seat)}>
        <p class="quiet">{t(runs, "bySeatHelp")}</p>
      </Part>
      <Part name="times" table={tables.times}>
        <p class="quiet">
          {t(runs, "timesHelp")}{" "}
          {t(runs, "timesFrom", {
            read: Number(facts.get("replays_read")),
            total: Number(facts.get("played")),
          })}
        </p>
      </Part>
      <Part name="reasons" table={tables.faults} />
      <Part name="facts">
        <Facts facts={facts} />
      </Part>
      <Part name="unread" table={tables.unread} />
    </div>
  );
}

interface PartProps {
  readonly name: "bySeat" | "times" | "reasons" | "facts" | "unread";
  /** The table after the other content; without rows, nothing is shown. */
  readonly table?: Table;
  readonly children?: ComponentChildren;
}

function Part({ name, table, children }: PartProps) {
  if (table?.rows.length === 0) return null;
  return (
    <section class="card wide" aria-labelledby={name}>
      <h2 id={name}>{t(runs, name)}</h2>
      {children}
      {table && <DataTable table={table} />}
    </section>
  );
}

/** The title of each column that is shown; those of seats are in `titleOf`. */
const TITLES = {
  entry: "entry",
  kind: "forfeit",
  forfeits: "faults",
  latest_match: "match",
  latest_reason: "reason",
  median_s: "median",
  p95_s: "percentile95",
  longest_s: "longest",
  match_s: "perMatch",
  clock_share: "clockUsed",
  highest_share: "clockMost",
  replies: "replies",
  problem: "problem",
} as const;

function titleOf(column: string): string | undefined {
  const [seat = "", seats] = column.split("/");
  if (seats !== undefined) return t(runs, "seatOf", { seat, seats });
  return column in TITLES ? t(runs, TITLES[column as keyof typeof TITLES]) : undefined;
}

function text(column: string, value: Value): ComponentChildren {
  if (column === "entry")
    return value === null ? t(runs, "everyEntry") : <Name of={String(value)} />;
  if (value === null && column === "forfeits") return t(runs, "asAbove"); // another reason
  if (column === "kind") return faultText(String(value));
  if (column === "latest_reason") return <Quoted words={String(value)} />;
  if (typeof value !== "number") return <bdi lang="en">{value ?? "–"}</bdi>;
  if (column.endsWith("_s")) return seconds(value);
  if (column.endsWith("_share")) return share(value);
  return column.includes("/") ? decimal(value, 3) : number(value);
}

function DataTable({ table: { columns, rows } }: { table: Table }) {
  const shown = columns.flatMap((column, n) => {
    const title = titleOf(column);
    const numeric = rows.some((row) => typeof row[n] === "number");
    return title === undefined ? [] : [{ column, n, title, kind: numeric ? "number" : column }];
  });
  const median = columns.indexOf("median_s");
  const scale = median < 0 ? undefined : timeScale(rows, median, columns.indexOf("p95_s"));
  const box = useRef<HTMLDivElement>(null);
  useMore(box);
  return (
    // A wide table scrolls in its own frame, which the keyboard must reach.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <div class="scroll" ref={box} tabIndex={0}>
      <table class="data">
        <thead>
          <tr>
            {shown.map(({ column, title, kind }) => (
              <th key={column} scope="col" class={kind}>
                {title}
              </th>
            ))}
            {scale && <th scope="col">{scale.title}</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <tr key={place}>
              {shown.map(({ column, n, kind }) =>
                n === 0 ? (
                  <th key={column} scope="row">
                    {text(column, row[n] ?? null)}
                  </th>
                ) : (
                  <td key={column} class={kind}>
                    {text(column, row[n] ?? null)}
                  </td>
                ),
              )}
              {scale && <td class="range-column">{scale.range(row)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** One row for each entry, and one column for each seat. */
function bySeat({ rows }: Table): Table {
  const seats = [...new Set(rows.map(([, of, seat]) => `${seat}/${of}`))];
  const lines = new Map<Value, Value[]>();
  for (const [entry = null, of, seat, , score = null] of rows) {
    const line = lines.get(entry) ?? [entry, ...seats.map(() => null)];
    line[1 + seats.indexOf(`${seat}/${of}`)] = score;
    lines.set(entry, line);
  }
  return { columns: ["entry", ...seats], rows: [...lines.values()] };
}

/** Draws times on a scale of powers of ten: a mark at one column, a line to another. */
function timeScale(rows: Table["rows"], mark: number, end: number) {
  const log = (value: Value | undefined) => Math.log10(Math.max(Number(value), 1e-6));
  const ends = rows.flatMap((row) => [log(row[mark]), log(row[end])]);
  const from = Math.floor(Math.min(...ends));
  const to = Math.ceil(Math.max(...ends));
  const written = (power: number) => seconds(10 ** power);
  const title = t(runs, "range", { low: written(from), high: written(to) });
  const range = (row: readonly Value[]) => {
    const low = log(row[mark]);
    return <Range {...{ low, high: log(row[end]), value: low, from, to, text: written }} />;
  };
  return { title, range };
}

function seconds(value: number): string {
  return value < 0.001 ? `${number(value * 1e6)}\u00a0µs` : duration(value * 1e6);
}

function share(value: number): string {
  return value > 0 && value < 0.001 ? `< ${percent(0.001, 1)}` : percent(value, 1);
}

/** The facts that no other part of the page shows, in this order: each with its text. */
const FACTS = {
  stalled_s: (value) => seconds(Number(value)),
  cores_used: (value) => percent(Number(value)),
  bots_share: (value) => percent(Number(value)),
  deals: (value) => t(runs, value === "committed" ? "committed" : "joint"),
  deal_commitment: null,
  tournament_secret: null,
  secret_matches: (value) => t(runs, value === true ? "yes" : "no"),
  seed: null,
  edition_sha256: null,
  manifest_sha256: null,
  public_key: null,
  fingerprint: null,
  asara: (value) => String(value),
  audit: null,
} as const satisfies Readonly<Record<string, ((value: Value) => string) | null>>;

function Facts({ facts }: { facts: ReadonlyMap<string, Value> }) {
  const known = (Object.keys(FACTS) as (keyof typeof FACTS)[]).filter((name) => facts.has(name));
  return (
    <dl class="data">
      {known.map((name) => {
        const value = facts.get(name) ?? null;
        const text = FACTS[name];
        return (
          <div key={name}>
            <dt>{t(runs, name)}</dt>
            <dd>{text === null ? <code>{value}</code> : text(value)}</dd>
          </div>
        );
      })}
    </dl>
  );
}
