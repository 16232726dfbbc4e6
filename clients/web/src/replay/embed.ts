/** Control of an embedded match page by the page around it; README.md documents the messages. */

import { effect } from "@preact/signals";
import { type Link, parseFragment } from "./links.js";
import * as players from "./player.js";
import type { MatchStore } from "./store.js";

const VERSION = 1;

export type Command =
  | { readonly type: "play" | "pause" | "subscribe" }
  | { readonly type: "goTo"; readonly link: Link };

/** The command in a message; undefined if the message is not exactly one of those documented. */
export function readCommand(data: unknown): Command | undefined {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return undefined;
  const message: { asara?: unknown; type?: unknown; moment?: unknown; link?: unknown } = data;
  if (message.asara !== VERSION) return undefined;
  const fields = Object.keys(message).length;
  const { type, moment, link } = message;
  if (type === "play" || type === "pause" || type === "subscribe") {
    return fields === 2 ? { type } : undefined;
  }
  if (type !== "goTo" || fields !== 3) return undefined;
  if (typeof moment === "number" && Number.isSafeInteger(moment) && moment >= 0) {
    return { type, link: { kind: "moment", moment } };
  }
  const target = typeof link === "string" ? parseFragment(link) : undefined;
  return target === undefined || target.kind === "unreadable" ? undefined : { type, link: target };
}

/** What the page around is sent: nothing that the viewer of this page is not shown. */
function stateMessage(store: MatchStore) {
  const { setting } = store.record.value;
  const { index, sequence, table } = store.moment.value;
  const state = {
    asara: VERSION,
    type: "state",
    match: setting.matchId,
    moment: index,
    sequence,
    year: table.publicView.year,
    playing: store.playing.value,
    link: store.fragment.value,
  };
  if (store.hidesEnd.value) return state;
  return { ...state, moments: store.course.value.length, over: store.course.value.over };
}

/**
 * Obeys the page around this one, and sends it the state once it has asked. Messages of any other
 * window are ignored, and nothing is sent to an origin that did not ask.
 */
export function connectEmbed(store: MatchStore): () => void {
  if (window.parent === window) return () => undefined;
  let stop: (() => void) | undefined;
  function receive(event: MessageEvent): void {
    if (event.source !== window.parent) return;
    const command = readCommand(event.data);
    if (command === undefined) return;
    if (command.type === "goTo") store.open(command.link);
    else if (command.type === "subscribe") {
      // A sandboxed frame and a file have no origin that could be named.
      const origin = event.origin === "null" ? "*" : event.origin;
      stop?.();
      stop = effect(() => window.parent.postMessage(stateMessage(store), origin));
    } else {
      const playing = command.type === "play";
      store.act((player, course) => players.setPlaying(player, playing, course));
    }
  }
  addEventListener("message", receive);
  return () => {
    removeEventListener("message", receive);
    stop?.();
  };
}
