/** The API about runs: the types of its JSON, and requests that repeat while a page is shown. */

import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { getJson, isRefusal } from "../match/api.js";

export type RunState = "prepared" | "running" | "finished" | "stopped" | "killed" | "unreadable";

export interface RunSummary {
  readonly name: string;
  readonly kind: "run" | "replays";
  readonly title: string;
  readonly state: RunState;
  readonly started: string;
  readonly entries: number;
  readonly over: number;
  readonly scheduled: number;
  /** The entry with the best score; empty until the run is finished. */
  readonly leader: string;
  readonly leader_ranks: StandingsRow["ranks"];
}

export interface StandingsRow {
  readonly place: number;
  readonly entry: string;
  readonly matches: number;
  readonly blocks: number;
  readonly score: number;
  readonly interval_95: readonly [number, number] | null;
  /** Best and worst rank that the results allow. */
  readonly ranks: readonly [number, number] | null;
  readonly first_chance: number | null;
  readonly win_share: number;
  readonly prestige: number | null;
  readonly faults: number;
}

export interface Pairing {
  readonly entry: string;
  readonly opponent: string;
  readonly matches: number;
  readonly score: number;
}

export interface LadderRow {
  readonly entry: string;
  readonly matches: number;
  /** null if nothing connects the entry with the others. */
  readonly rating: number | null;
  readonly interval_95: readonly [number, number] | null;
}

export interface Standings {
  readonly matches: number;
  readonly complete: boolean;
  /** Blocks of the open group that were played in part, and the matches that they lack. */
  readonly unfinished: { readonly blocks: number; readonly matches: number };
  /** Blocks in which entries on other machines sat at several tables. */
  readonly remote_blocks: number;
  /** Entries that played, but that no chain of matches connects with the ladder. */
  readonly unconnected: readonly string[];
  /** The run ended before all was played, because its ranks were settled. */
  readonly ended_early: boolean;
  readonly overall: readonly StandingsRow[];
  readonly without_forfeits: readonly StandingsRow[];
  readonly by_rules: Readonly<Record<string, readonly StandingsRow[]>>;
  readonly cross_table: readonly Pairing[];
  readonly ladder: readonly LadderRow[];
}

export interface Progress {
  readonly scheduled: number;
  readonly over: number;
  readonly void: number;
  readonly started?: string;
  readonly ended?: string | null;
  readonly last_end_ms?: number | null;
  readonly elapsed_s?: number | null;
  readonly pace?: { readonly matches: number; readonly since_ms: number | null } | null;
  readonly building?: readonly string[];
  readonly to_build?: readonly string[];
  readonly remote?: Readonly<Record<string, "here" | "awaited" | "missed">>;
}

export interface FailingEntry {
  readonly entry: string;
  readonly matches: number;
  readonly kinds: Readonly<Record<string, number>>;
  /** Its latest forfeit that follows from no earlier one: the match, the kind, the referee's words. */
  readonly match: string;
  readonly kind: string;
  readonly why: string;
}

/** A match that is being played; one that may not be watched has neither name nor rules. */
export interface RunningMatch {
  readonly name?: string;
  readonly rules?: string;
  /** Names by seat. */
  readonly entries: readonly string[];
  readonly started_ms: number;
}

/** A run; in a file, which has no other pages, its name is empty. */
export interface Run {
  /** True if legs began while bots of other runs lived on the machine. */
  readonly beside_others?: boolean;
  readonly name: string;
  readonly kind: "run" | "replays";
  readonly title: string;
  readonly state: RunState;
  readonly rules: readonly string[];
  /** Numbers of seats of the matches that are over. */
  readonly seats: readonly number[];
  readonly entries: readonly string[];
  readonly standings: Standings | null;
  /** Matches that are being played, the latest first. */
  readonly running: readonly RunningMatch[];
  readonly unreadable: number;
  readonly progress: Progress;
  readonly settings?: {
    readonly blocks: "mirrored" | "duplicate" | "independent";
    readonly edition: string;
    readonly sandbox: string;
  };
  readonly faults?: readonly FailingEntry[];
  readonly excluded?: readonly {
    entry: string;
    kind: "out" | "suspended" | "left_out";
    why: string;
  }[];
}

export type Value = string | number | boolean | null;

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Value[])[];
}

/** The tables that are shown on request. */
export type Tables = Readonly<Record<"by_seat" | "faults" | "times" | "run" | "unread", Table>>;

export interface MatchSeat {
  readonly entry: string;
  readonly rank: number;
  readonly prestige: number;
  readonly fault: string;
}

export interface MatchRow {
  readonly name: string;
  readonly block: string;
  readonly rules: string;
  readonly started: string;
  readonly seconds: number;
  readonly state: "replay" | "waiting" | "void";
  readonly seats: readonly MatchSeat[];
  /** Where the match can be opened, in a file. */
  readonly href?: string | null;
}

export interface MatchPage {
  readonly total: number;
  readonly offset: number;
  readonly matches: readonly MatchRow[];
}

/** What a page knows of something on the server. The last value stays while nothing answers. */
export interface Polled<T> {
  readonly value?: T;
  /** The server's sentence, if it refused. */
  readonly refused?: string;
  /** True if it did not answer the last time. */
  readonly silent: boolean;
}

const FAST_MS = 2_000;
const SLOW_MS = 15_000;

/**
 * Requests JSON again and again while the component is shown and the page is visible: every two
 * seconds while `goesOn`, otherwise every 15.
 */
export function usePolled<T>(
  path: string,
  goesOn: (value: T) => boolean,
): ReadonlySignal<Polled<T>> {
  const state = useMemo(() => signal<Polled<T>>({ silent: false }), [path]);
  useEffect(() => {
    const abort = new AbortController();
    let timer = 0;
    let seen = "";
    async function ask(): Promise<void> {
      window.clearTimeout(timer);
      try {
        const value = await getJson<T>(path, abort.signal);
        const text = JSON.stringify(value);
        if (text !== seen || state.value.silent) state.value = { value, silent: false };
        seen = text;
      } catch (error) {
        if (abort.signal.aborted) return;
        const { value } = state.value;
        const known = value === undefined ? {} : { value };
        state.value = isRefusal(error)
          ? { ...known, refused: error.message, silent: false }
          : { ...known, silent: true };
        seen = "";
      }
      const { value, silent, refused } = state.value;
      const soon = silent || refused !== undefined || (value !== undefined && goesOn(value));
      if (!document.hidden) timer = window.setTimeout(ask, soon ? FAST_MS : SLOW_MS);
    }
    function look(): void {
      if (!document.hidden) void ask();
    }
    void ask();
    document.addEventListener("visibilitychange", look);
    return () => {
      abort.abort();
      window.clearTimeout(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [path]);
  return state;
}
