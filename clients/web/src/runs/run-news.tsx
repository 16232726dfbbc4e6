/** What goes on in the run of a match: the next table to watch, and how the run has ended. */

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { runPath } from "../match/api.js";
import { pathOf } from "../router.js";
import { spoilerFree } from "../settings.js";
import { isolate, t } from "../words/language.js";
import { list } from "../words/numbers.js";
import { runs } from "../words/sections/runs.js";
import { type Run, type RunningMatch, usePolled } from "./api.js";
import { leaderText } from "./standings.js";

/** That a run is over, and who leads it; undefined while that is not known. */
export function overSentence(run: Run): string | undefined {
  const [best, ...rest] = run.standings?.overall ?? [];
  const over = run.state === "finished" && run.standings?.complete === true;
  if (!over || best === undefined || best.matches === 0) return undefined;
  if (spoilerFree.value) return t(runs, "isOver");
  const firsts = [best, ...rest].filter(({ place }) => place === best.place);
  const names = list(firsts.map(({ entry }) => isolate(entry)));
  return `${t(runs, "isOver")} ${leaderText(names, best.ranks)}`;
}

/** The match that can be watched after this one, in the order of the run's page. */
export function nextMatch(running: readonly RunningMatch[], match: string): string | undefined {
  const names = running.flatMap(({ name }) => (name === undefined ? [] : [name]));
  const next = names[(names.indexOf(match) + 1) % names.length];
  return next === match ? undefined : next;
}

interface Props {
  readonly run: string;
  readonly match: string;
  /** True while the match is running. */
  readonly live: boolean;
}

/** Links beside the year; none on the page of a run that was over before. */
export function RunNews({ run: name, match, live }: Props) {
  const state = usePolled<Run>(runPath(name), (run) => run.state === "running").value;
  const met = useRef({ running: false, live: false });
  const run = state.value;
  if (run === undefined) return null;
  met.current.running ||= run.state === "running";
  met.current.live ||= live;
  if (!met.current.running) return null;
  const next = met.current.live ? nextMatch(run.running, match) : undefined;
  const over = run.state === "running" ? undefined : (overSentence(run) ?? t(runs, run.state));
  return (
    <>
      {next !== undefined && (
        <News to={pathOf({ page: "match", run: name, match: next })}>{t(runs, "nextMatch")}</News>
      )}
      <output>
        {over !== undefined && <News to={pathOf({ page: "run", run: name })}>{over}</News>}
      </output>
    </>
  );
}

function News({ to, children }: { to: string; children: ComponentChildren }) {
  return (
    <a class="news" href={to}>
      {children}
    </a>
  );
}
