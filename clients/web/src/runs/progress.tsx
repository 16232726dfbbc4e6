/** How far a run is. */

import { useEffect, useState } from "preact/hooks";
import { t } from "../words/language.js";
import { dateTime, list, number, span } from "../words/numbers.js";
import { common } from "../words/sections/common.js";
import { runs } from "../words/sections/runs.js";
import type { Progress as Course, Run, RunState } from "./api.js";

export function StateBadge({ state, kind }: { state: RunState; kind: "run" | "replays" }) {
  return (
    <span class={`badge ${state}`}>{t(runs, kind === "replays" ? "replayFolder" : state)}</span>
  );
}

/** A bar; its text says the same. */
export function Bar({ over, total }: { over: number; total: number }) {
  const share = total > 0 ? Math.min(over / total, 1) : 0;
  return (
    <div class="bar-track" aria-hidden="true">
      <div class="bar-fill" style={{ width: `${100 * share}%` }} />
    </div>
  );
}

export function overText(over: number, scheduled: number): string {
  return t(runs, "overOf", { over: number(over), total: number(Math.max(scheduled, over)) });
}

/** Estimated seconds until the run is over; undefined before its first match is. */
export function secondsLeft(progress: Course, nowMs: number): number | undefined {
  const { pace, scheduled, over } = progress;
  if (pace?.since_ms == null || pace.matches === 0) return undefined;
  return ((scheduled - over) * (nowMs - pace.since_ms)) / 1000 / pace.matches;
}

/** The time now, renewed every second while `moving`. */
export function useNow(moving: boolean): number {
  const [nowMs, setNow] = useState(Date.now);
  useEffect(() => {
    if (!moving) return;
    const timer = window.setInterval(() => setNow(Date.now()), 1000);
    return () => window.clearInterval(timer);
  }, [moving]);
  return nowMs;
}

export function Progress({ run }: { run: Run }) {
  const { progress } = run;
  const written = run.name === ""; // a file stays as it was written
  const running = run.state === "running" && !written;
  const nowMs = useNow(running);
  return (
    <section class="progress" aria-label={t(runs, "state")}>
      {(running || progress.over < progress.scheduled) && (
        <Bar over={progress.over} total={progress.scheduled} />
      )}
      <ul class="facts">
        <li class="main-fact">
          {progress.over < progress.scheduled
            ? overText(progress.over, progress.scheduled)
            : t(common, "matches", { count: progress.over })}
        </li>
        {progressFacts(progress, running, nowMs).map((fact) => (
          <li key={fact}>{fact}</li>
        ))}
      </ul>
      {written && (run.state === "running" || run.state === "prepared") && (
        <p class="notice">{t(runs, "asWritten")}</p>
      )}
      {(run.state === "stopped" || run.state === "killed") && (
        <p class="notice">{t(runs, "unended")}</p>
      )}
      {progress.void > 0 && <p class="notice bad">{t(runs, "voids", { count: progress.void })}</p>}
      {run.unreadable > 0 && (
        <p class="notice bad">{t(runs, "unreadableFiles", { count: run.unreadable })}</p>
      )}
    </section>
  );
}

function progressFacts(progress: Course, running: boolean, nowMs: number): string[] {
  const { started, last_end_ms: lastEnd, elapsed_s: elapsed, pace } = progress;
  const facts: string[] = [];
  const begun = Date.parse(started ?? "");
  if (!Number.isNaN(begun)) facts.push(t(runs, "started", { when: dateTime(begun) }));
  if (elapsed != null) facts.push(t(runs, "took", { time: span(elapsed) }));
  if (!running) return facts;
  const left = secondsLeft(progress, nowMs);
  if (left !== undefined && pace?.since_ms != null) {
    const minutes = (nowMs - pace.since_ms) / 60_000;
    facts.push(t(runs, "left", { time: span(left) }));
    facts.push(t(runs, "pace", { count: Math.round(pace.matches / Math.max(minutes, 1 / 60)) }));
  }
  if (lastEnd != null) facts.push(t(runs, "lastEnd", { time: span((nowMs - lastEnd) / 1000) }));
  const building = progress.building ?? [];
  if (building.length > 0) facts.push(t(runs, "building", { names: list(building) }));
  const awaited = Object.entries(progress.remote ?? {})
    .filter(([, state]) => state !== "here")
    .map(([name]) => name);
  if (awaited.length > 0) facts.push(t(runs, "awaited", { names: list(awaited) }));
  return facts;
}
