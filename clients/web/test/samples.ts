/** Matches of bundled bots, for tests: all rule sets, 2 to 4 seats, one of them with a forfeit. */

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { fromBinary } from "@bufbuild/protobuf";
import { type ReplayView, ReplayViewSchema } from "asara/gen/replay_view_pb.js";
import type { MatchRecord, Viewer } from "../src/match/model.js";
import { restrictView } from "../src/match/restrict.js";
import { recordOf } from "../src/match/timeline.js";

export const SAMPLES = [
  "basic-2",
  "basic-gifts-3",
  "pro-4",
  "pro-gifts-2",
  "pro-genie-3",
  "forfeit-3",
  "richest-4",
] as const;
export type Sample = (typeof SAMPLES)[number];

const FOLDER = new URL("../../../tests/vectors/replay_views/", import.meta.url);

/** Returns a file of the sample matches. */
export function sampleFile(name: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(new URL(name, FOLDER)));
}

/** Returns the open view of a match. */
export function sampleView(name: Sample): ReplayView {
  const bytes = new Uint8Array(gunzipSync(sampleFile(`${name}.view.gz`)));
  return fromBinary(ReplayViewSchema, bytes);
}

/** Returns a match as a viewer may see it. */
export function sampleRecord(name: Sample, viewer: Viewer = { kind: "open" }): MatchRecord {
  return recordOf(restrictView(sampleView(name), viewer));
}
