/** Node.js as the platform of the core. */

import { createHmac, hash, randomBytes } from "node:crypto";
import { log } from "./log.js";
import type { Platform } from "./platform.js";
import { openTranscript } from "./transcript.js";

/** Returns the platform; messages are also written to new files in `folder`, unless it is empty. */
export function nodePlatform(folder: string): Platform {
  return {
    language: `TypeScript, Node ${process.versions.node}`,
    sha256: (data) => hash("sha256", data, "buffer"),
    hmacSha256: (key, message) => createHmac("sha256", key).update(message).digest(),
    randomBytes,
    log,
    openTranscript: (matchId, seat) =>
      folder === "" ? undefined : openTranscript(folder, matchId, seat),
  };
}
