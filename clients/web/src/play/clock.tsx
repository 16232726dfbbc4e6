/** The time that is left for the open decision; nothing without a clock. */

import { useEffect, useState } from "preact/hooks";
import { t } from "../words/language.js";
import { clock } from "../words/numbers.js";
import { play } from "../words/sections/play.js";
import { hasClock } from "./session.js";
import type { PlayStore } from "./store.js";

const TICK_MS = 200;
const SHORT_US = 10_000_000;

export function ClockFace({ store }: { readonly store: PlayStore }) {
  const session = store.session.value;
  const { decision, sent } = session;
  const running = decision !== undefined && sent?.decisionId !== decision.decisionId;
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    if (!running) return;
    setNow(performance.now());
    const timer = setInterval(() => setNow(performance.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [running, decision]);
  if (!hasClock(session)) return null;
  const bank = Number(decision?.clockUs ?? session.started?.clocks?.bankUs ?? 0);
  const spent = running ? (now - store.askedAt.value) * 1000 : 0;
  const left = Math.max(0, bank - spent);
  return (
    <span class={left < SHORT_US ? "play-clock short" : "play-clock"} role="timer">
      <span class="quiet">{t(play, "clock")}</span> <b>{clock(left)}</b>
    </span>
  );
}
