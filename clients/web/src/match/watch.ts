/** Watches a running match over the page's own server. */

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { WatchRequestSchema, WatchResponseSchema } from "asara/gen/watch_pb.js";
import { MatchError } from "./errors.js";
import type { MatchRecord } from "./model.js";
import { ReconnectingSocket } from "./reconnecting-socket.js";
import { LiveMatch } from "./timeline.js";

const NOT_FOUND = 5;

/** What `watchMatch` calls. */
export interface Watcher {
  /** Called with every new record of the match. */
  grown(record: MatchRecord): void;
  /** Called with true when the first message of a connection came, with false when it broke. */
  connectionChanged?(connected: boolean): void;
  /** Called once if the match cannot be watched; the text is one sentence for people. */
  failed(reason: string): void;
}

/**
 * Watches a match to its end; after each break it goes on where it was.
 *
 * Returns a function that ends the watching; nothing is called any more afterwards.
 */
export function watchMatch(run: string, matchId: string, watcher: Watcher): () => void {
  const live = new LiveMatch();
  let met = false; // a message came on this connection

  const lost = () => {
    if (met) watcher.connectionChanged?.(false);
    met = false;
  };
  const receive = (message: Uint8Array) => {
    const before = live.record;
    const record = live.receive(fromBinary(WatchResponseSchema, message));
    if (record !== undefined && record !== before) watcher.grown(record);
    if (live.over) socket.close();
  };
  const socket = new ReconnectingSocket(`/ws/watch?run=${encodeURIComponent(run)}`, {
    hello: () => {
      const request = { matchId, afterSequence: BigInt(live.sequence) };
      return toBinary(WatchRequestSchema, create(WatchRequestSchema, request));
    },
    received: (message) => {
      if (!met) watcher.connectionChanged?.(true);
      met = true;
      try {
        receive(message);
      } catch (error) {
        socket.close();
        const known = error instanceof MatchError;
        watcher.failed(known ? error.message : "The server sent a message that cannot be read.");
      }
    },
    ended: ({ status, retryable, detail }) => {
      if (status === 0 || retryable) return "again";
      // A match that has ended can be watched again when its replay is published.
      if (status === NOT_FOUND && live.record !== undefined) return "later";
      lost();
      watcher.failed(detail || "The match cannot be watched.");
      return "over";
    },
    broke: lost,
  });
  return () => socket.close();
}
