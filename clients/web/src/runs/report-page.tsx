/** The report of a run: its page inside a file, with a list of the matches that are beside the file. */

import { signal } from "@preact/signals";
import { dataBlock, unpacked } from "../replay/file-source.js";
import { spoilerFree } from "../settings.js";
import { t } from "../words/language.js";
import { number } from "../words/numbers.js";
import { common } from "../words/sections/common.js";
import { runs } from "../words/sections/runs.js";
import type { MatchRow, Run, Tables } from "./api.js";
import { Details } from "./details.js";
import { Frame } from "./frame.js";
import { kindsOf, MatchList } from "./match-list.js";
import { StateBadge } from "./progress.js";
import { Overview } from "./run-page.js";

interface Report {
  readonly run: Run;
  readonly tables: Tables;
  readonly matches: readonly MatchRow[];
  /** Number of all matches, of which there may be more than are listed. */
  readonly total: number;
}

/** Returns what the file contains; rejects if that is damaged. */
export async function readReport(): Promise<Report> {
  const packed = dataBlock("run") ?? new Uint8Array();
  return JSON.parse(new TextDecoder().decode(await unpacked(packed)));
}

export function ReportPage({ run, tables, matches, total }: Report) {
  return (
    <Frame title={run.title} note={<StateBadge state={run.state} kind={run.kind} />} run="">
      <Overview run={run} />
      {!spoilerFree.value && <Details tables={tables} />}
      {matches.length > 0 && (
        <details class="more matches">
          <summary>
            {matches.length < total
              ? t(runs, "overOf", { over: number(matches.length), total: number(total) })
              : t(common, "matches", { count: total })}
          </summary>
          <MatchList
            run=""
            rows={held(matches)}
            goesOn={false}
            own=""
            names={run.entries}
            seats={run.seats.at(-1) ?? 4}
            faults={kindsOf(run)}
          />
        </details>
      )}
    </Frame>
  );
}

function held(matches: readonly MatchRow[]) {
  return {
    total: signal(matches.length),
    version: signal(0),
    row: (index: number) => matches[index],
    want: () => undefined,
    refresh: () => undefined,
  };
}
