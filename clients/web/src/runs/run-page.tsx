/** A run: how far it is, who leads, and what failed. */

import { useEffect, useState } from "preact/hooks";
import { runPath } from "../match/api.js";
import { pathOf } from "../router.js";
import { spoilerFree } from "../settings.js";
import { Referee } from "../ui/referee.js";
import { isolate, t } from "../words/language.js";
import { clock, list, number } from "../words/numbers.js";
import { runs } from "../words/sections/runs.js";
import {
  type FailingEntry,
  type Run,
  type RunningMatch,
  type Standings,
  type StandingsRow,
  usePolled,
} from "./api.js";
import { CrossTable } from "./cross-table.js";
import type { RequestedDetails } from "./details.js";
import { Frame, HiddenResults, Waiting } from "./frame.js";
import { faultText, MatchesLink, Name, rulesText } from "./names.js";
import { Progress, StateBadge, useNow } from "./progress.js";
import { overSentence } from "./run-news.js";
import { Ladder, StandingsTable } from "./standings.js";

const WIDE = 9; // entries above which the cross table takes the whole width
const NAMES = 10; // names in a sentence

export function RunPage({ run: name }: { run: string }) {
  const state = usePolled<Run>(
    runPath(name),
    (run) => run.state === "running" || run.state === "prepared" || run.standings === null,
  ).value;
  const run = state.value;
  return (
    <Frame
      title={run?.title ?? name}
      note={run && <StateBadge state={run.state} kind={run.kind} />}
      run={name}
      page="run"
    >
      <Waiting state={state} over={run?.state === "finished"} />
      {run !== undefined && (
        <>
          <Overview run={run} />
          {run.kind === "run" && !spoilerFree.value && <More run={run} />}
        </>
      )}
    </Frame>
  );
}

/** All that is known without a further request. */
export function Overview({ run }: { run: Run }) {
  return (
    <>
      <End run={run} />
      <Progress run={run} />
      <Running run={run} />
      {spoilerFree.value ? <HiddenResults /> : <Results run={run} />}
      <Settings run={run} />
    </>
  );
}

/** Tables that are loaded when they are opened. */
function More({ run }: { run: Run }) {
  const [opened, setOpened] = useState(false);
  return (
    <details class="more" onToggle={() => setOpened(true)}>
      <summary>{t(runs, "details")}</summary>
      {opened && <LoadedDetails run={run} />}
    </details>
  );
}

function LoadedDetails({ run }: { run: Run }) {
  const [Shown, setShown] = useState<typeof RequestedDetails>();
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    import("./details.js").then(
      (module) => setShown(() => module.RequestedDetails),
      () => setFailed(true),
    );
  }, []);
  if (Shown !== undefined) return <Shown run={run} />;
  return <p class="notice">{t(runs, failed ? "failed" : "loading")}</p>;
}

/** That a run is over, and who won it. */
function End({ run }: { run: Run }) {
  const sentence = overSentence(run);
  if (sentence === undefined) return null;
  return (
    <p class="notice run-end" role="status">
      {sentence}
    </p>
  );
}

/** The matches that are being played; most can be watched. */
function Running({ run }: { run: Run }) {
  const { running } = run;
  const nowMs = useNow(running.length > 0);
  if (running.length === 0) return null;
  return (
    <section class="now" aria-labelledby="now">
      <h2 id="now">{t(runs, "nowPlayed")}</h2>
      <ul>
        {running.map((table) => (
          <li key={table.name ?? `${table.started_ms} ${table.entries}`}>
            <RunningTable run={run.name} table={table} nowMs={nowMs} />
          </li>
        ))}
      </ul>
      {running.some(({ name }) => name === undefined) && <p class="quiet">{t(runs, "withheld")}</p>}
    </section>
  );
}

interface TableProps {
  readonly run: string;
  readonly table: RunningMatch;
  readonly nowMs: number;
}

/** Who plays, and for how long; a link if the match may be watched. */
function RunningTable({ run, table, nowMs }: TableProps) {
  const { name, rules, entries, started_ms: started } = table;
  const inner = (
    <>
      <span class="now-seats">
        {entries.map((entry, seat) => (
          <span key={seat} class={`seat-name seat-${seat}`}>
            <Name of={entry} />
          </span>
        ))}
      </span>
      <span class="quiet">
        {rules !== undefined && <span>{rulesText(rules)}</span>}
        <span>{clock(Math.max(nowMs - started, 0) * 1000)}</span>
      </span>
    </>
  );
  if (name === undefined) return <div class="card">{inner}</div>;
  return (
    <a class="card" href={pathOf({ page: "match", run, match: name })}>
      {inner}
    </a>
  );
}

function Results({ run }: { run: Run }) {
  const { standings } = run;
  if (standings === null) return <p class="notice">{t(runs, "computing")}</p>;
  if (standings.matches === 0) return <p class="notice">{t(runs, "noMatches")}</p>;
  return (
    <div class="results">
      <StandingsCard run={run} standings={standings} />
      {standings.cross_table.length > 0 && (
        <section
          class={standings.overall.length > WIDE ? "card wide" : "card"}
          aria-labelledby="cross-table"
        >
          <h2 id="cross-table">{t(runs, "crossTable")}</h2>
          <p class="quiet">{t(runs, "crossHelp")}</p>
          <CrossTable run={run.name} standings={standings} />
        </section>
      )}
      <section class="card" aria-labelledby="ladder">
        <h2 id="ladder">{t(runs, "ladder")}</h2>
        <p class="quiet">{t(runs, "ladderHelp", { points: 1500 })}</p>
        <Ladder rows={standings.ladder} />
      </section>
      <Faults run={run} />
    </div>
  );
}

function StandingsCard({ run, standings }: { run: Run; standings: Standings }) {
  const [part, setPart] = useState("");
  const parts: Readonly<Record<string, readonly StandingsRow[]>> = {
    "": standings.overall,
    "*": standings.without_forfeits,
    ...standings.by_rules,
  };
  const some = standings.overall.some((row) => row.faults > 0);
  const rules = Object.keys(standings.by_rules);
  return (
    <section class="card wide" aria-labelledby="standings">
      <div class="card-head">
        <h2 id="standings">{t(runs, "standings")}</h2>
        {(some || rules.length > 1) && (
          <label>
            <span class="unseen">{t(runs, "standingsOf")}</span>
            <select value={part} onChange={(event) => setPart(event.currentTarget.value)}>
              <option value="">{t(runs, "allRules")}</option>
              {rules.length > 1 &&
                rules.map((each) => (
                  <option key={each} value={each}>
                    {rulesText(each)}
                  </option>
                ))}
              {some && <option value="*">{t(runs, "withoutForfeits")}</option>}
            </select>
          </label>
        )}
      </div>
      <StandingsTable run={run.name} rows={parts[part] ?? standings.overall} />
      {run.state !== "running" && standings.unfinished.blocks > 0 && (
        <p class="notice">{t(runs, "unfinished", { count: standings.unfinished.matches })}</p>
      )}
      {standings.remote_blocks > 0 && (
        <p class="notice">{t(runs, "remoteBlocks", { count: standings.remote_blocks })}</p>
      )}
      {standings.unconnected.length > 0 && (
        <p class="notice">{t(runs, "unconnected", { names: named(standings.unconnected) })}</p>
      )}
      {standings.ended_early && <p class="notice">{t(runs, "endedEarly")}</p>}
      {run.beside_others && <p class="notice">{t(runs, "besideOthers")}</p>}
      <p class="quiet">
        {t(runs, "scoreHelp")}
        <span class="extra">
          {" "}
          {t(runs, "ranksHelp")} {t(runs, "firstHelp")}
        </span>
      </p>
    </section>
  );
}

function Faults({ run }: { run: Run }) {
  const { faults = [], excluded = [] } = run;
  return (
    <section class="card" aria-labelledby="faults">
      <h2 id="faults">{t(runs, "faults")}</h2>
      {faults.length + excluded.length === 0 && <p class="quiet">{t(runs, "noFaults")}</p>}
      <ul class="fault-list">
        {excluded.map(({ entry, kind, why }) => (
          <li key={`${kind}-${entry}`}>
            <Name of={entry} /> <span class="bad-ink">{t(runs, kind)}</span>
            <Why words={why} />
          </li>
        ))}
        {faults.map((each) => (
          <li key={each.entry}>
            <MatchesLink run={run.name} filter={{ entry: each.entry, forfeit: "any" }}>
              <Name of={each.entry} />
            </MatchesLink>{" "}
            <span class="bad-ink">
              {t(runs, "faultShare", {
                count: Object.values(each.kinds).reduce((sum, one) => sum + one, 0),
                total: each.matches,
              })}
            </span>
            <span class="quiet"> {kindsText(each.kinds)}</span>
            <p class="why">
              {t(runs, "latestFault", { match: isolate(each.match) })} {faultText(each.kind)}
            </p>
            <Why words={each.why} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Kinds of forfeits; of several, each with its number. */
function kindsText(kinds: FailingEntry["kinds"]): string {
  const found = Object.entries(kinds);
  const text = ([kind, count]: [string, number]) =>
    found.length === 1 ? faultText(kind) : `${faultText(kind)} (${number(count)})`;
  return list(found.map(text));
}

function Why({ words }: { words: string }) {
  if (words === "") return null;
  return (
    <p class="why">
      <Referee words={words} />
    </p>
  );
}

function named(entries: readonly string[]): string {
  const names = entries.slice(0, NAMES).map(isolate);
  return list(names.length < entries.length ? [...names, "…"] : names);
}

function Settings({ run }: { run: Run }) {
  const { settings } = run;
  if (settings === undefined) return null;
  const facts = [
    [t(runs, "rules"), run.rules.map(rulesText).join(" · ")],
    [t(runs, "blocks"), t(runs, settings.blocks)],
    [t(runs, "sandbox"), t(runs, settings.sandbox === "none" ? "uncontained" : "contained")],
    [t(runs, "edition"), settings.edition],
  ] as const;
  return (
    <section class="settings" aria-labelledby="settings">
      <h2 id="settings">{t(runs, "settings")}</h2>
      <dl>
        {facts
          .filter(([, text]) => text !== "")
          .map(([term, text]) => (
            <div key={term}>
              <dt>{term}</dt>
              <dd>
                <bdi>{text}</bdi>
              </dd>
            </div>
          ))}
      </dl>
    </section>
  );
}
