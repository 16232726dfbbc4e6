/** What few readers need of a run: scores by seat, reasons of forfeits, times, keys and commitments. */

import type { ComponentChildren } from "preact";
import { runPath } from "../match/api.js";
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
  const faults = records(tables.faults);
  const times = records(tables.times);
  const unread = tables.unread.rows;
  const facts = new Map(tables.run.rows.map(([name, value]) => [String(name), value ?? null]));
  return (
    <div class="results">
      {tables.by_seat.rows.length > 0 && (
        <Part name="bySeat" help={t(runs, "bySeatHelp")}>
          <DataTable {...bySeat(records(tables.by_seat))} />
        </Part>
      )}
      {times.length > 0 && (
        <Part name="times" help={t(runs, "timesHelp")}>
          <DataTable columns={timeColumns(times)} rows={times} />
          <p class="quiet">
            {t(runs, "timesFrom", {
              read: Number(facts.get("replays_read")),
              total: Number(facts.get("played")),
            })}
          </p>
        </Part>
      )}
      {faults.length > 0 && (
        <Part name="reasons">
          <DataTable columns={faultColumns()} rows={faults} />
        </Part>
      )}
      <Part name="facts">
        <Facts facts={facts} />
        {unread.length > 0 && (
          <>
            <h3>{t(runs, "unread")}</h3>
            <ul lang="en">
              {unread.map(([problem]) => (
                <li key={problem}>
                  <Name of={String(problem)} />
                </li>
              ))}
            </ul>
          </>
        )}
      </Part>
    </div>
  );
}

interface PartProps {
  readonly name: "bySeat" | "times" | "reasons" | "facts";
  readonly help?: string;
  readonly children: ComponentChildren;
}

function Part({ name, help, children }: PartProps) {
  return (
    <section class="card wide" aria-labelledby={name}>
      <h2 id={name}>{t(runs, name)}</h2>
      {help !== undefined && <p class="quiet">{help}</p>}
      {children}
    </section>
  );
}

/** A row of a table, by column. */
type Row = Readonly<Record<string, Value>>;

function records({ columns, rows }: Table): Row[] {
  return rows.map((row) => Object.fromEntries(columns.map((name, n) => [name, row[n] ?? null])));
}

interface Column {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly kind?: "number" | "range-column" | "reason";
}

interface TableProps {
  /** The first one names the row. */
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

function DataTable({ columns: [head, ...columns], rows }: TableProps) {
  return (
    // A wide table scrolls in its own frame, which the keyboard must reach.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <div class="scroll" tabIndex={0}>
      <table class="data">
        <thead>
          <tr>
            <th scope="col">{head?.title}</th>
            {columns.map(({ title, kind }) => (
              <th key={title} scope="col" class={kind}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <tr key={place}>
              <th scope="row">{head?.cell(row)}</th>
              {columns.map(({ title, kind, cell }) => (
                <td key={title} class={kind}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The column of a number, which may be missing. */
function numbers(title: string, name: string, text: (value: number) => string): Column {
  const cell = ({ [name]: value }: Row) => (typeof value === "number" ? text(value) : "–");
  return { title, cell, kind: "number" };
}

function entryColumn(): Column {
  return { title: t(runs, "entry"), cell: ({ entry }) => <Name of={String(entry)} /> };
}

/** One row for each entry, and one column for each seat. */
function bySeat(rows: readonly Row[]): TableProps {
  const seats = new Map<string, Column>();
  const lines = new Map<Value, Record<string, Value>>();
  for (const { entry = null, seats: of, seat, score } of rows) {
    const name = `${seat}/${of}`;
    const title = t(runs, "seatOf", { seat: String(seat), seats: String(of) });
    seats.set(
      name,
      numbers(title, name, (value) => decimal(value, 3)),
    );
    const line = lines.get(entry) ?? { entry };
    line[name] = score ?? null;
    lines.set(entry, line);
  }
  const { title, cell } = entryColumn();
  const named: Column = {
    title,
    cell: (row) => (row["entry"] === null ? t(runs, "everyEntry") : cell(row)),
  };
  return { columns: [named, ...seats.values()], rows: [...lines.values()] };
}

function seconds(value: number): string {
  return value < 0.001 ? `${number(value * 1e6)}\u00a0µs` : duration(value * 1e6);
}

function share(value: number): string {
  return value > 0 && value < 0.001 ? `< ${percent(0.001, 1)}` : percent(value, 1);
}

function timeColumns(rows: readonly Row[]): Column[] {
  const log = (value: Value | undefined) => Math.log10(Math.max(Number(value), 1e-6));
  const ends = rows.flatMap(({ median_s: median, p95_s: high }) => [log(median), log(high)]);
  const from = Math.floor(Math.min(...ends));
  const to = Math.ceil(Math.max(...ends));
  return [
    entryColumn(),
    numbers(t(runs, "median"), "median_s", seconds),
    {
      title: t(runs, "range", { low: seconds(10 ** from), high: seconds(10 ** to) }),
      kind: "range-column",
      cell: ({ median_s: median, p95_s: high }) => (
        <Range
          low={log(median)}
          high={log(high)}
          value={log(median)}
          from={from}
          to={to}
          text={(power) => seconds(10 ** power)}
        />
      ),
    },
    numbers(t(runs, "percentile95"), "p95_s", seconds),
    numbers(t(runs, "longest"), "longest_s", seconds),
    numbers(t(runs, "perMatch"), "match_s", seconds),
    numbers(t(runs, "clockUsed"), "clock_share", share),
    numbers(t(runs, "clockMost"), "highest_share", share),
    numbers(t(runs, "replies"), "replies", number),
  ];
}

function faultColumns(): Column[] {
  return [
    entryColumn(),
    { title: t(runs, "fault"), cell: ({ kind }) => faultText(String(kind)) },
    numbers(t(runs, "faults"), "forfeits", number),
    {
      title: t(runs, "reason"),
      kind: "reason",
      cell: ({ latest_match: match, latest_reason: reason }) => (
        <>
          <small>
            <Name of={String(match)} />
          </small>{" "}
          <bdi lang="en">{String(reason)}</bdi>
        </>
      ),
    },
  ];
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
