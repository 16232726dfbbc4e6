/** Plays from the page: any bot class, or one that waits for a person, through the play socket. */

import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import {
  type BotClass,
  type DecideFunction,
  type Platform,
  playSocket,
  type SocketOptions,
} from "asara/core.js";
import { socketUrl } from "./reconnecting-socket.js";

/** Options of `playHere`; the address is that of the page's own server. */
export type PlayOptions = Omit<SocketOptions, "url">;

/**
 * Plays until the referee sends Goodbye or `options.signal` is aborted, and reconnects whenever the
 * socket breaks. Rejects with AsaraError, or with the first error of the bot.
 */
export function playHere(bot: BotClass | DecideFunction, options: PlayOptions): Promise<void> {
  return playSocket(bot, { ...options, url: socketUrl("/ws/play") }, browserPlatform());
}

/**
 * Returns the browser as the platform of the client. Its own hashes are asynchronous only, and the
 * client digests each message before the bot sees it.
 */
export function browserPlatform(log: (message: string) => void = console.warn): Platform {
  return {
    language: "TypeScript, browser",
    sha256: (data) => sha256(typeof data === "string" ? utf8ToBytes(data) : data),
    hmacSha256: (key, message) => hmac(sha256, key, message),
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    log,
  };
}
