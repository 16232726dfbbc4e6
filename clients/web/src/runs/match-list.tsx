/** A list of matches of any length: only the rows in sight are in the document. */

import type { ReadonlySignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { pathOf, scrolledBefore } from "../router.js";
import { spoilerFree } from "../settings.js";
import { t } from "../words/language.js";
import { clock, dateTime, decimal, number } from "../words/numbers.js";
import { runs } from "../words/sections/runs.js";
import type { MatchRow, MatchSeat, Run } from "./api.js";
import { faultText, Name, rulesText } from "./names.js";

const MARGIN = 12; // rows above and below those in sight
const REFRESH_MS = 2_000;

/** Where the rows come from. */
export interface Rows {
  readonly total: ReadonlySignal<number | undefined>;
  /** Changes when rows have arrived. */
  readonly version: ReadonlySignal<number>;
  row(index: number): MatchRow | undefined;
  want(first: number, end: number): void;
  refresh(first: number, end: number): void;
}

interface Sight {
  readonly first: number;
  readonly end: number;
}

interface ListProps {
  readonly run: string;
  readonly rows: Rows;
  /** True while matches are added. */
  readonly goesOn: boolean;
  /** The entry whose matches are listed; "" for all. */
  readonly own: string;
  /** Names of all entries, for which the columns have room. */
  readonly names: readonly string[];
  /** Number of columns: the largest number of seats. */
  readonly seats: number;
  /** Kinds of all forfeits, for which the columns have room. */
  readonly faults: readonly string[];
}

const LONGEST = 18; // characters of a name that its column has room for
const SHORTEST_S = 0.1; // matches below it are shown as shorter than it

export function MatchList({ run, rows, goesOn, own, names, seats, faults }: ListProps) {
  const list = useRef<HTMLUListElement>(null);
  const focused = useRef<number | undefined>(undefined);
  const total = rows.total.value ?? 0;
  void rows.version.value;
  const [height, sight] = useSight(list, total);
  rows.want(sight.first, Math.max(sight.end, 1));
  useEffect(() => {
    if (!goesOn) return;
    const timer = window.setInterval(() => {
      if (!document.hidden) rows.refresh(sight.first, sight.end);
    }, REFRESH_MS);
    return () => window.clearInterval(timer);
  }, [goesOn, rows, sight.first, sight.end]);
  useLayoutEffect(() => {
    if (focused.current === undefined) return;
    const found = focusRow(list.current, focused.current);
    // Until the row has arrived, another element stands in its place.
    if (found && rows.row(focused.current) !== undefined) focused.current = undefined;
  });

  function move(event: KeyboardEvent): void {
    const at = rowOf(document.activeElement);
    const page = Math.max(Math.floor(window.innerHeight / height) - 2, 1);
    const to = target(event.key, at, page, total - 1);
    if (at === undefined || to === undefined || event.altKey || event.ctrlKey || event.metaKey)
      return;
    event.preventDefault();
    focused.current = to;
    reveal(list.current, to, height);
    focusRow(list.current, to);
  }

  // A page that is come back to is where it was, once its rows have their heights.
  const restored = useRef(false);
  useLayoutEffect(() => {
    if (restored.current || total === 0) return;
    restored.current = true;
    const top = scrolledBefore();
    if (top > 0) window.scrollTo({ top, behavior: "instant" });
  }, [total]);

  const width = Math.min(LONGEST, Math.max(...names.map((name) => name.length), 4));
  const fault = Math.max(0, ...faults.map((kind) => faultText(kind).length));
  const shown = Array.from({ length: sight.end - sight.first }, (_, n) => sight.first + n);
  return (
    <ul
      ref={list}
      class="match-list"
      aria-label={t(runs, "matches")}
      style={{
        height: `${total * height}px`,
        "--name": `${width}ch`,
        "--fault": `${spoilerFree.value ? 0 : fault}ch`,
        "--seats": seats,
      }}
      onKeyDown={move}
    >
      {shown.map((index) => (
        <li
          key={index}
          class="match-row"
          aria-setsize={total}
          aria-posinset={index + 1}
          style={{ transform: `translateY(${index * height}px)` }}
        >
          <Row run={run} row={rows.row(index)} index={index} own={own} goesOn={goesOn} />
        </li>
      ))}
    </ul>
  );
}

/** The kinds of the forfeits of a run. */
export function kindsOf(run: Run | undefined): readonly string[] {
  return (run?.faults ?? []).flatMap(({ kinds }) => Object.keys(kinds));
}

function focusRow(list: HTMLElement | null, index: number): boolean {
  const row = list?.querySelector<HTMLElement>(`[data-row="${index}"]`);
  row?.focus({ preventScroll: true });
  return row != null;
}

function rowOf(element: Element | null): number | undefined {
  const text = element?.getAttribute("data-row");
  return text == null ? undefined : Number(text);
}

/** The row to which a key leads. */
export function target(
  key: string,
  at: number | undefined,
  page: number,
  last: number,
): number | undefined {
  if (at === undefined) return undefined;
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + page,
    PageUp: at - page,
    Home: 0,
    End: last,
  };
  const to = steps[key];
  return to === undefined ? undefined : Math.min(Math.max(to, 0), last);
}

/** Scrolls the page so far that a row is in sight. */
function reveal(list: HTMLElement | null, index: number, height: number): void {
  if (list === null) return;
  const top = list.getBoundingClientRect().top + index * height;
  const below = top + 2 * height - window.innerHeight;
  if (top < height) window.scrollBy({ top: top - height, behavior: "instant" });
  else if (below > 0) window.scrollBy({ top: below, behavior: "instant" });
}

/** Returns the height of a row in pixels, and the rows in sight. */
function useSight(
  list: { readonly current: HTMLUListElement | null },
  total: number,
): readonly [number, Sight] {
  const [state, setState] = useState({ height: 48, first: 0, end: 0 });
  useLayoutEffect(() => {
    function look(): void {
      const element = list.current;
      if (element === null) return;
      const height = Number.parseFloat(getComputedStyle(element).lineHeight) || 48;
      const top = element.getBoundingClientRect().top;
      const first = Math.max(Math.floor(-top / height) - MARGIN, 0);
      const seen = Math.ceil((window.innerHeight - top) / height) + MARGIN;
      const end = Math.max(Math.min(seen, total), 0);
      setState((old) =>
        old.height === height && old.first === first && old.end === end
          ? old
          : { height, first: Math.min(first, end), end },
      );
    }
    look();
    window.addEventListener("scroll", look, { passive: true });
    window.addEventListener("resize", look);
    return () => {
      window.removeEventListener("scroll", look);
      window.removeEventListener("resize", look);
    };
  }, [list, total]);
  return [state.height, { first: Math.min(state.first, state.end), end: state.end }];
}

interface RowProps {
  readonly run: string;
  readonly row: MatchRow | undefined;
  readonly index: number;
  readonly own: string;
  readonly goesOn: boolean;
}

function Row({ run, row, index, own, goesOn }: RowProps) {
  if (row === undefined) return <span class="row-wait" data-row={index} tabIndex={-1} />;
  const inner = <RowText row={row} own={own} goesOn={goesOn} />;
  if (row.state !== "replay") {
    const waits = goesOn && row.state === "waiting";
    return (
      // A link without an address: the arrow keys lead here, too.
      <a
        class="row-link none"
        role="link"
        aria-disabled="true"
        data-row={index}
        tabIndex={0}
        {...(waits && { title: t(runs, "waitingHelp") })}
      >
        {inner}
      </a>
    );
  }
  return (
    <a
      class="row-link"
      data-row={index}
      href={row.href ?? pathOf({ page: "match", run, match: row.name })}
    >
      {inner}
    </a>
  );
}

/** Why a match cannot be watched. */
function noReplay({ state }: MatchRow, goesOn: boolean) {
  if (state === "void") return "void";
  return goesOn ? "waiting" : "noReplay";
}

function RowText({ row, own, goesOn }: { row: MatchRow; own: string; goesOn: boolean }) {
  const hidden = spoilerFree.value;
  const begun = Date.parse(row.started);
  return (
    <>
      <span class="row-seats">
        {row.seats.map((seat, place) => (
          <Seat key={place} seat={seat} hidden={hidden} own={seat.entry === own} />
        ))}
      </span>
      <span class="row-about">
        <span class="row-rules" title={rulesText(row.rules)}>
          {rulesText(row.rules)}
        </span>
        <span class="row-note">
          {row.state === "replay" || row.href === null ? (
            <Name of={row.name} />
          ) : (
            t(runs, noReplay(row, goesOn))
          )}
        </span>
      </span>
      <span class="row-when">
        <span>{Number.isNaN(begun) ? "" : dateTime(begun)}</span>
        {row.seconds > 0 && <span class="row-note">{length(row.seconds)}</span>}
      </span>
    </>
  );
}

/** How long a match took, such as `2:05`. */
function length(seconds: number): string {
  return seconds < SHORTEST_S ? `< ${decimal(SHORTEST_S, 1)}\u00a0s` : clock(seconds * 1e6);
}

function Seat({ seat, hidden, own }: { seat: MatchSeat; hidden: boolean; own: boolean }) {
  const won = !hidden && seat.rank === 1;
  const { fault } = seat;
  return (
    <span class={`row-seat ${won ? "won" : ""} ${own ? "own" : ""}`}>
      <Name of={seat.entry} />
      {!hidden && (
        <>
          <span class="unseen">{` ${t(runs, "rankedAs", { rank: seat.rank })}, `}</span>
          {fault === "" ? (
            <b>
              {number(seat.prestige)}
              <span class="unseen"> {t(runs, "prestige")}</span>
            </b>
          ) : (
            <span class="bad-ink" title={faultText(fault)}>
              {faultText(fault)}
            </span>
          )}
        </>
      )}
    </span>
  );
}
