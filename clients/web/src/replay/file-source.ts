/** A match that is inside the page's own file. No request is made. */

import { fromBinary } from "@bufbuild/protobuf";
import { computed, signal } from "@preact/signals";
import { ReplayViewSchema } from "asara/gen/replay_view_pb.js";
import { MatchError } from "../match/errors.js";
import type { MatchRecord, Viewer } from "../match/model.js";
import { recordOf } from "../match/timeline.js";
import { t } from "../words/language.js";
import { replay } from "../words/sections/replay.js";
import { allViewers, type MatchSource, type Signature, type SourceState } from "./source.js";

/** Larger data is no match: the server's limit of a replay is 4 MiB. */
const MOST_BYTES = 32 * 1024 * 1024;

/** The bytes of a data block: base64 of what zlib has compressed. undefined without the block. */
export async function dataBlock(id: string): Promise<Uint8Array | undefined> {
  const text = document.getElementById(id)?.textContent?.replace(/\s+/g, "");
  if (!text) return undefined;
  if (typeof DecompressionStream === "undefined") throw new MatchError(t(replay, "oldBrowser"));
  try {
    const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return await inflated(
      new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate")),
    );
  } catch {
    throw new MatchError(t(replay, "damaged"));
  }
}

async function inflated(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > MOST_BYTES) throw new RangeError("too much data");
    parts.push(new Uint8Array(value));
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

export class FileSource implements MatchSource {
  readonly record = signal<MatchRecord | undefined>(undefined);
  readonly state = signal<SourceState>({ kind: "loading" });
  readonly viewers = computed<readonly Viewer[]>(() => {
    const record = this.record.value === undefined ? undefined : this.#whole;
    if (record === undefined) return [];
    const { viewer, entries } = record.setting;
    if (viewer.kind === "open") return allViewers(entries.length);
    return viewer.kind === "seat" ? [{ kind: "everybody" }, viewer] : [viewer];
  });
  /** Everything that the file contains. */
  #whole: MatchRecord | undefined;

  constructor(viewer: Viewer | undefined) {
    void this.#read(viewer);
  }

  async #read(viewer: Viewer | undefined): Promise<void> {
    try {
      const bytes = await dataBlock("replay-view");
      if (bytes === undefined) throw new MatchError(t(replay, "noData"));
      this.#whole = readRecord(bytes);
    } catch (error) {
      const reason = error instanceof MatchError ? error.message : t(replay, "damaged");
      this.state.value = { kind: "failed", reason };
      return;
    }
    this.record.value = this.#whole;
    this.state.value = { kind: "over" };
    const known = this.viewers.value.some(
      (each) =>
        each.kind === viewer?.kind &&
        (each.kind !== "seat" || each.seat === (viewer as { seat?: number }).seat),
    );
    if (known && viewer !== undefined) await this.show(viewer);
  }

  async show(viewer: Viewer): Promise<string | undefined> {
    if (this.#whole !== undefined) this.record.value = restricted(this.#whole, viewer);
    return undefined;
  }

  async signature(): Promise<Signature | undefined> {
    const file = await dataBlock("replay");
    return file === undefined ? { kind: "part" } : { kind: "file", file, runKey: undefined };
  }

  close(): void {}
}

function readRecord(bytes: Uint8Array): MatchRecord {
  try {
    return recordOf(fromBinary(ReplayViewSchema, bytes));
  } catch (error) {
    throw error instanceof MatchError ? error : new MatchError(t(replay, "damaged"));
  }
}

function restricted(record: MatchRecord, viewer: Viewer): MatchRecord {
  return { ...record, setting: { ...record.setting, viewer } };
}
