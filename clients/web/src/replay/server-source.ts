/** A match of a run, from the page's own server: finished, or watched while it grows. */

import { fromBinary } from "@bufbuild/protobuf";
import { computed, signal } from "@preact/signals";
import { type ReplayView, ReplayViewSchema } from "asara/gen/replay_view_pb.js";
import type { AnalysisAnswer } from "../match/analysis.js";
import { getJson, isRefusal, matchPath, request, ServerError } from "../match/api.js";
import { MatchError } from "../match/errors.js";
import type { MatchRecord, Viewer } from "../match/model.js";
import { recordOf } from "../match/timeline.js";
import { watchMatch } from "../match/watch.js";
import { t } from "../words/language.js";
import { replay } from "../words/sections/replay.js";
import { viewerText } from "./links.js";
import { allViewers, type MatchSource, type Signature, type SourceState } from "./source.js";

const EVERYBODY: Viewer = { kind: "everybody" };

/** The body of an answer; throws ServerError with one sentence for everything else. */
export async function get(path: string): Promise<Response> {
  try {
    return await request(path);
  } catch (error) {
    throw isRefusal(error) ? error : new ServerError(0, t(replay, "noServer"));
  }
}

/** A finished match as a viewer may see it. */
export async function fetchRecord(
  run: string,
  match: string,
  viewer: Viewer,
): Promise<MatchRecord> {
  return (await fetchView(run, match, viewer)).record;
}

/** A match, and what it was made from. */
export interface Fetched {
  readonly view: ReplayView;
  readonly record: MatchRecord;
}

export async function fetchView(run: string, match: string, viewer: Viewer): Promise<Fetched> {
  const response = await get(`${matchPath(run, match)}/view?viewer=${viewerText(viewer)}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  try {
    const view = fromBinary(ReplayViewSchema, bytes);
    return { view, record: recordOf(view) };
  } catch (error) {
    throw new ServerError(0, error instanceof MatchError ? error.message : t(replay, "damaged"));
  }
}

/** The analysis of a match that is over; undefined if the server does not answer. */
export async function fetchAnalysis(
  run: string,
  match: string,
): Promise<AnalysisAnswer | undefined> {
  try {
    return await getJson(`${matchPath(run, match)}/analysis`);
  } catch {
    return undefined;
  }
}

export class ServerSource implements MatchSource {
  readonly record = signal<MatchRecord | undefined>(undefined);
  readonly state = signal<SourceState>({ kind: "loading" });
  readonly viewers = computed<readonly Viewer[]>(() => {
    const seats = this.record.value?.setting.entries.length ?? 0;
    return this.state.value.kind === "over" ? allViewers(seats) : [EVERYBODY];
  });
  #stopWatching: (() => void) | undefined;
  /** The view of the match that is shown; undefined of one that was watched. */
  #view: ReplayView | undefined;
  #closed = false;
  #asked = 0; // requests so far: an answer that another request has overtaken is dropped

  constructor(
    readonly run: string,
    readonly match: string,
    viewer: Viewer,
  ) {
    void this.#open(viewer);
  }

  async #open(viewer: Viewer): Promise<void> {
    try {
      await this.#fetch(viewer);
    } catch (error) {
      if (viewer.kind === "seat" && isStatus(error, 422)) return this.#open(EVERYBODY);
      if (isStatus(error, 404)) this.#watch((error as ServerError).message);
      else this.#fail(error);
    }
  }

  async #fetch(viewer: Viewer): Promise<void> {
    this.#asked += 1;
    const asked = this.#asked;
    const { view, record } = await fetchView(this.run, this.match, viewer);
    if (this.#closed || asked !== this.#asked) return;
    this.#view = view;
    this.record.value = record;
    this.state.value = { kind: "over" };
  }

  /** Watches the match; `missing` says why it is not among those that are over. */
  #watch(missing: string): void {
    if (this.#closed) return;
    this.#stopWatching = watchMatch(this.run, this.match, {
      grown: (record) => {
        const over = record.results !== undefined || record.void === true;
        this.record.value = record;
        this.state.value = { kind: over ? "over" : "live" };
      },
      connectionChanged: (connected) => {
        if (this.state.value.kind === "over") return;
        this.state.value = { kind: connected ? "live" : "lost" };
      },
      failed: () => {
        if (this.record.value === undefined) this.#fail(new ServerError(404, missing));
        else this.state.value = { kind: "lost" };
      },
    });
  }

  #fail(error: unknown): void {
    const reason = error instanceof ServerError ? error.message : t(replay, "damaged");
    if (!this.#closed) this.state.value = { kind: "failed", reason };
  }

  async show(viewer: Viewer): Promise<string | undefined> {
    try {
      await this.#fetch(viewer);
      return undefined;
    } catch (error) {
      return error instanceof ServerError ? error.message : t(replay, "damaged");
    }
  }

  async signature(): Promise<Signature | undefined> {
    if (this.#view === undefined) await this.show(EVERYBODY);
    const shown = this.#view;
    if (shown === undefined) return undefined;
    const response = await get(`${matchPath(this.run, this.match)}/replay`);
    const file = new Uint8Array(await response.arrayBuffer());
    return { kind: "file", file, shown, runKey: runKeyOf(response) };
  }

  async analysis(): Promise<AnalysisAnswer | undefined> {
    // Without a view, the match is watched while its run goes on.
    return this.#view === undefined ? undefined : fetchAnalysis(this.run, this.match);
  }

  close(): void {
    this.#closed = true;
    this.#stopWatching?.();
  }
}

function isStatus(error: unknown, status: number): boolean {
  return error instanceof ServerError && error.status === status;
}

/** The public key of the run's referee; undefined if the run names none. */
function runKeyOf(response: Response): Uint8Array | undefined {
  const key = response.headers.get("Asara-Referee-Key") ?? "";
  if (!/^([0-9a-f]{2}){32}$/.test(key)) return undefined;
  return Uint8Array.from(key.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}
