/** Asks the server what follows from the actions of a turn, and for hints. */

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Decision, MatchStarted } from "asara/gen/play_pb.js";
import {
  PreviewRequestSchema,
  type PreviewResponse,
  PreviewResponseSchema,
} from "asara/gen/preview_pb.js";
import type { Action } from "asara/gen/vocabulary_pb.js";
import { request } from "../match/api.js";

const PREVIEW_MS = 5_000;
const HINT_MS = 60_000; // a server that is busy takes its time, and the page says so

/** Returns what follows; undefined if the server cannot tell, and then the turn can just be sent. */
export async function askPreview(
  started: MatchStarted,
  decision: Decision,
  actions: readonly Action[],
): Promise<PreviewResponse | undefined> {
  try {
    const response = await post("/api/preview", started, decision, actions, PREVIEW_MS);
    return fromBinary(PreviewResponseSchema, new Uint8Array(await response.arrayBuffer()));
  } catch {
    return undefined;
  }
}

/** Returns the legal action that the server would choose; undefined if it cannot tell. */
export async function askHint(
  started: MatchStarted,
  decision: Decision,
): Promise<Action | undefined> {
  try {
    const response = await post("/api/hint", started, decision, [], HINT_MS);
    const { action } = (await response.json()) as { readonly action: number };
    return decision.legalActions[action];
  } catch {
    return undefined;
  }
}

function post(
  path: string,
  started: MatchStarted,
  decision: Decision,
  actions: readonly Action[],
  patienceMs: number,
): Promise<Response> {
  const asked = create(PreviewRequestSchema, {
    started: { ...started, view: undefined },
    decision: { ...decision, events: [] }, // they are in the view, and can be many
    actions: [...actions],
  });
  return request(path, {
    method: "POST",
    headers: { "Content-Type": "application/x-protobuf" },
    body: toBinary(PreviewRequestSchema, asked),
    signal: AbortSignal.timeout(patienceMs),
  });
}
