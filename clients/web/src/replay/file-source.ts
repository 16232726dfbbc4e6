/** A match that is inside the page's own file. No request is made. */

import { fromBinary } from "@bufbuild/protobuf";
import { ReplayViewSchema } from "asara/gen/replay_view_pb.js";
import type { AnalysisAnswer } from "../match/analysis.js";
import { MatchError } from "../match/errors.js";
import type { Viewer } from "../match/model.js";
import { recordOf } from "../match/timeline.js";
import { t } from "../words/language.js";
import { replay } from "../words/sections/replay.js";
import { HeldSource } from "./held-source.js";
import type { Signature } from "./source.js";

/** Larger data is no match: the server's limit of a replay is 4 MiB. */
const MOST_BYTES = 32 * 1024 * 1024;

/** The bytes of a data block, which are there as base64; undefined without the block. */
export function dataBlock(id: string): Uint8Array<ArrayBuffer> | undefined {
  const text = document.getElementById(id)?.textContent?.trim();
  if (!text) return undefined;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    throw new MatchError(t(replay, "damaged"));
  }
}

/** The bytes that zlib has compressed. */
export async function unpacked(packed: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  if (typeof DecompressionStream === "undefined") throw new MatchError(t(replay, "oldBrowser"));
  try {
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

export class FileSource extends HeldSource {
  constructor(viewer: Viewer | undefined) {
    super();
    void this.#read(viewer);
  }

  async #read(viewer: Viewer | undefined): Promise<void> {
    try {
      const packed = dataBlock("replay-view");
      if (packed === undefined) throw new MatchError(t(replay, "noData"));
      const whole = fromBinary(ReplayViewSchema, await unpacked(packed));
      this.hold(recordOf(whole), whole);
    } catch (error) {
      // protobuf's own words about damaged bytes help nobody
      const reason = error instanceof MatchError ? error.message : t(replay, "damaged");
      this.state.value = { kind: "failed", reason };
      return;
    }
    if (viewer !== undefined) await this.show(viewer);
  }

  override async signature(): Promise<Signature | undefined> {
    const file = dataBlock("replay");
    const shown = this.whole;
    if (file === undefined || shown === undefined) return { kind: "part" };
    return { kind: "file", file, shown, runKey: undefined };
  }

  override async analysis(): Promise<AnalysisAnswer | undefined> {
    try {
      const packed = dataBlock("analysis");
      if (packed === undefined) return undefined;
      const text = new TextDecoder().decode(await unpacked(packed));
      return { analysis: JSON.parse(text), ignored: "" };
    } catch {
      return { analysis: null, ignored: t(replay, "damaged") };
    }
  }
}
