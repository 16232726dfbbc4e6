/** The list of runs. */

import { pathOf } from "../router.js";
import { spoilerFree } from "../settings.js";
import { isolate, t } from "../words/language.js";
import { dateTime } from "../words/numbers.js";
import { common } from "../words/sections/common.js";
import { runs } from "../words/sections/runs.js";
import { type RunSummary, usePolled } from "./api.js";
import { Frame, Waiting } from "./frame.js";
import { Name } from "./names.js";
import { Bar, overText, StateBadge } from "./progress.js";
import { leaderText } from "./standings.js";

interface Answer {
  readonly runs: readonly RunSummary[];
}

export function RunsPage() {
  const state = usePolled<Answer>("/api/runs", () => true).value;
  const found = state.value?.runs ?? [];
  const isShared = (title: string) => found.filter((run) => run.title === title).length > 1;
  return (
    <Frame title={t(runs, "runs")} page="runs">
      <Waiting state={state} />
      {state.value?.runs.length === 0 && (
        <div class="empty">
          <p>{t(runs, "noRuns")}</p>
          <p>{t(runs, "noRunsHelp")}</p>
          <pre>asara match greedy random --out runs/first</pre>
        </div>
      )}
      <ul class="run-cards">
        {found.map((run) => (
          <RunCard key={run.name} run={run} named={isShared(run.title)} />
        ))}
      </ul>
    </Frame>
  );
}

/** `named` if other runs have the same title: then the folder tells them apart. */
function RunCard({ run, named }: { run: RunSummary; named: boolean }) {
  const begun = Date.parse(run.started);
  return (
    <li class="card run-card">
      <h2>
        <a href={pathOf({ page: "run", run: run.name })}>
          <Name of={run.title} />
        </a>
        {named && (
          <small class="folder">
            {" "}
            <Name of={run.name} />
          </small>
        )}
      </h2>
      <StateBadge state={run.state} kind={run.kind} />
      {run.state === "running" && <Bar over={run.over} total={run.scheduled} />}
      <p class="quiet">
        {[
          run.over < run.scheduled
            ? overText(run.over, run.scheduled)
            : t(common, "matches", { count: run.over }),
          ...(run.entries > 0 ? [t(runs, "entries", { count: run.entries })] : []),
          ...(Number.isNaN(begun) ? [] : [dateTime(begun)]),
        ].join(" · ")}
      </p>
      {run.leader !== "" && !spoilerFree.value && (
        <p class="leader">{leaderText(isolate(run.leader), run.leader_ranks)}</p>
      )}
    </li>
  );
}
