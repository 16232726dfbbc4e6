/** The sample matches of `tests/vectors/replay_views`. */

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { fromBinary } from "@bufbuild/protobuf";
import { ReplayViewSchema } from "asara/gen/replay_view_pb.js";
import type { MatchRecord } from "../../src/match/model.js";
import { recordOf } from "../../src/match/timeline.js";

const FOLDER = fileURLToPath(new URL("../../../../tests/vectors/replay_views/", import.meta.url));

export function sampleMatches(): Map<string, MatchRecord> {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".view.gz"));
  return new Map(
    names.map((name) => {
      const view = fromBinary(ReplayViewSchema, gunzipSync(readFileSync(FOLDER + name)));
      return [name.replace(".view.gz", ""), recordOf(view)];
    }),
  );
}
