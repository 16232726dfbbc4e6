/** Where a match page has its match from: a server, or the file that the page is. */

import type { ReadonlySignal } from "@preact/signals";
import type { ReplayView } from "asara/gen/replay_view_pb.js";
import type { AnalysisAnswer } from "../match/analysis.js";
import type { MatchRecord, Viewer } from "../match/model.js";

export type SourceState =
  | { readonly kind: "loading" }
  | { readonly kind: "live" }
  /** The connection is lost and is being made again. */
  | { readonly kind: "lost" }
  | { readonly kind: "over" }
  | { readonly kind: "failed"; readonly reason: string };

/** The signature, as far as it can be checked here. */
export type Signature =
  | {
      readonly kind: "file";
      readonly file: Uint8Array<ArrayBuffer>;
      /** The view of the match that is shown, to compare with the file. */
      readonly shown: ReplayView;
      /** The run's key; undefined if there is none to compare with. */
      readonly runKey: Uint8Array | undefined;
    }
  /** The page holds only what a viewer may see, and the signature covers everything. */
  | { readonly kind: "part" };

export interface MatchSource {
  /** The match as the current viewer sees it; it is replaced when it grows. */
  readonly record: ReadonlySignal<MatchRecord | undefined>;
  readonly state: ReadonlySignal<SourceState>;
  /** The viewers that the source can show. */
  readonly viewers: ReadonlySignal<readonly Viewer[]>;
  /** Shows the match as another viewer sees it; on failure, the current one stays, and why. */
  show(viewer: Viewer): Promise<string | undefined>;
  /** The signed file; undefined while the match is running. */
  signature(): Promise<Signature | undefined>;
  /** What the match was decided by; undefined while it is running, and if nothing is known. */
  analysis(): Promise<AnalysisAnswer | undefined>;
  close(): void;
}

/** Everybody, each seat, and everything open. */
export function allViewers(seats: number): readonly Viewer[] {
  const own = Array.from({ length: seats }, (_, seat): Viewer => ({ kind: "seat", seat }));
  return [{ kind: "everybody" }, ...own, { kind: "open" }];
}
