/** The rows of a long list: the server sends pages, and only those in sight are requested. */

import { signal } from "@preact/signals";
import { getJson, isRefusal } from "../match/api.js";
import type { MatchPage, MatchRow } from "./api.js";
import type { Rows } from "./match-list.js";

export const PAGE = 100;
const RETRY_MS = 2_000;

/** The pages that contain the rows from `first` up to, but not including, `end`. */
export function pagesOf(first: number, end: number): readonly number[] {
  const pages: number[] = [];
  for (let page = Math.floor(first / PAGE); page * PAGE < end; page += 1) pages.push(page);
  return pages;
}

export class MatchRows implements Rows {
  /** Number of all rows; undefined before the first answer. */
  readonly total = signal<number | undefined>(undefined);
  /** The server's sentence if it refused. */
  readonly refused = signal<string | undefined>(undefined);
  readonly silent = signal(false);
  /** Counts answers, so that components that read it are rendered again. */
  readonly version = signal(0);
  readonly #pages = new Map<number, readonly MatchRow[]>();
  readonly #requested = new Set<number>();
  readonly #abort = new AbortController();

  /** `path` has the filter in its query. */
  constructor(readonly path: string) {}

  row(index: number): MatchRow | undefined {
    return this.#pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  /** Requests the pages with these rows that are not there yet. */
  want(first: number, end: number): void {
    for (const page of pagesOf(first, end)) {
      if (!this.#pages.has(page) && !this.#requested.has(page)) void this.#request(page);
    }
  }

  /** Requests again what is in sight, because the run goes on. */
  refresh(first: number, end: number): void {
    for (const page of pagesOf(first, Math.max(end, 1))) {
      if (!this.#requested.has(page)) void this.#request(page);
    }
  }

  close(): void {
    this.#abort.abort();
  }

  async #request(page: number): Promise<void> {
    this.#requested.add(page);
    const mark = this.path.includes("?") ? "&" : "?";
    const path = `${this.path}${mark}offset=${page * PAGE}&limit=${PAGE}`;
    try {
      const found = await getJson<MatchPage>(path, this.#abort.signal);
      this.#pages.set(page, found.matches);
      this.total.value = found.total;
      this.refused.value = undefined;
      this.silent.value = false;
      this.version.value += 1;
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      if (isRefusal(error)) this.refused.value = error.message;
      else this.silent.value = true;
      window.setTimeout(() => {
        if (!this.#abort.signal.aborted) void this.#request(page);
      }, RETRY_MS);
    } finally {
      this.#requested.delete(page);
    }
  }
}
