/** The end of a match: who won, the final scoring, and what can be done next. */

import { Termination } from "asara/gen/event_pb.js";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { AnalysisAnswer } from "../match/analysis.js";
import type { MatchRecord, MatchSetting } from "../match/model.js";
import { ReceivedSource } from "../replay/held-source.js";
import { goToEnd } from "../replay/player.js";
import { Awards, Ledger, Results } from "../replay/scoring/scoring-view.js";
import { type Fetched, fetchAnalysis, fetchView } from "../replay/server-source.js";
import { MatchStore } from "../replay/store.js";
import { address, pathOf } from "../router.js";
import { isolate, t } from "../words/language.js";
import { list } from "../words/numbers.js";
import { play } from "../words/sections/play.js";
import type { Session } from "./session.js";
import type { PlayStore } from "./store.js";

const REPLAY = "replay"; // in the query of the address while the page shows the replay
const RETRY_MS = 250;
const MOST_RETRIES = 40; // ten seconds
const ANALYSIS_MS = 2000;
const MOST_ANALYSIS_RETRIES = 300; // ten minutes

interface Props {
  readonly store: PlayStore;
  readonly setting: MatchSetting;
  /** The match from its beginning, or what the page has received of it. */
  readonly record: MatchRecord | undefined;
  readonly complete: boolean;
  /** Pending while the match is analysed; undefined if it is not. */
  readonly analysis: Promise<AnalysisAnswer | undefined> | undefined;
}

export function Outcome({ store, setting, record, complete, analysis }: Props) {
  const { ended, started, seat } = store.session.value;
  const match = useEnded(record, analysis, seat);
  const pending = usePending(analysis);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    window.scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, []);
  if (ended === undefined || started === undefined) return null;
  const { run } = store.link;
  const last = started.matchId === store.link.last;
  return (
    <section class="outcome card" aria-labelledby="outcome">
      <h2 id="outcome" ref={heading} tabIndex={-1}>
        {outcomeText(store, setting)}
      </h2>
      <div class="row">
        {!last && (
          <button type="button" class="primary" onClick={() => store.again()}>
            {t(play, "again")}
          </button>
        )}
        {last && match !== undefined && (
          // The server may be gone: the replay is shown from what is here.
          <a class="button primary" href={replayHere()}>
            {t(play, "watch")}
          </a>
        )}
        {!last && run !== "" && !ended.void && (
          <a
            class="button"
            href={pathOf({ page: "match", run, match: started.matchId })}
            target="_blank"
            rel="noopener"
          >
            {t(play, "watch")}
          </a>
        )}
      </div>
      {match !== undefined && (
        <div class="outcome-parts">
          <div class="outcome-result">
            <Results store={match} />
            {pending && <p class="quiet">{t(play, "analysing")}</p>}
            <Awards store={match} />
          </div>
          {complete && <Ledger store={match} />}
        </div>
      )}
    </section>
  );
}

/** The address of the replay inside this page, which keeps the link to the seat. */
function replayHere(): string {
  return `${pathOf({ page: "play" })}?${REPLAY}${location.hash}`;
}

/** True while the page shows the replay of the match that has just ended. */
export function showsReplay(): boolean {
  return new URLSearchParams(address.value.query).has(REPLAY);
}

/** The finished match: what this page has received, and then the replay, in which all is open. */
export function useFinished(store: PlayStore, setting: MatchSetting | undefined) {
  const { ended, moments, started, stage, complete } = store.session.value;
  const [replay, setReplay] = useState<Fetched & Pick<Props, "analysis">>();
  const { run } = store.link;
  const over = stage === "over" && ended?.void === false;
  const matchId = started?.matchId ?? "";
  useEffect(() => {
    setReplay(undefined);
    if (!over || run === "") return;
    let current = true;
    let timer = 0;
    const ask = (left: number) =>
      void fetchView(run, matchId, { kind: "open" }).then(
        (found) => {
          if (!current) return;
          const whole = found.record.results?.every(
            ({ termination }) => termination === Termination.COMPLETED,
          );
          const analysis = whole ? waitForAnalysis(run, matchId, () => current) : undefined;
          setReplay({ ...found, analysis });
        },
        () => {
          // It may not be written yet; until it is, what was received is shown.
          if (current && left > 0) timer = window.setTimeout(ask, RETRY_MS, left - 1);
        },
      );
    ask(MOST_RETRIES);
    return () => {
      current = false;
      window.clearTimeout(timer);
    };
  }, [over, run, matchId]);
  return useMemo(() => {
    if (!over || setting === undefined || moments.length === 0) return undefined;
    if (replay !== undefined) {
      const named = { ...replay.record.setting, entries: setting.entries };
      return {
        record: { ...replay.record, setting: named },
        complete: true,
        analysis: replay.analysis,
        source: new ReceivedSource(replay.record, replay.view, replay.analysis),
      };
    }
    const record: MatchRecord = { setting, moments, results: ended?.results };
    return { record, complete, analysis: undefined, source: new ReceivedSource(record) };
  }, [over, setting, moments, ended, replay, complete]);
}

/** Asks for the analysis, which the server begins when the match is over, until it is there. */
async function waitForAnalysis(
  run: string,
  match: string,
  isWanted: () => boolean,
): Promise<AnalysisAnswer | undefined> {
  for (let left = MOST_ANALYSIS_RETRIES; left > 0 && isWanted(); left -= 1) {
    const answer = await fetchAnalysis(run, match);
    if (answer === undefined || answer.analysis !== null || answer.ignored !== "") return answer;
    await new Promise((resolve) => setTimeout(resolve, ANALYSIS_MS));
  }
  return undefined;
}

function usePending(analysis: Props["analysis"]): boolean {
  const [settled, setSettled] = useState<Props["analysis"]>();
  useEffect(() => void analysis?.then(() => setSettled(analysis)), [analysis]);
  return settled !== analysis;
}

/** The part of an analysis that is about a person's own decisions. */
function ownPart(answer: AnalysisAnswer | undefined, own: number): AnalysisAnswer | undefined {
  if (!answer?.analysis) return answer;
  const marks = answer.analysis.marks.filter(({ seat }) => seat === own);
  return { ...answer, analysis: { ...answer.analysis, marks, strokes: [] } };
}

/** The finished match as the match page's parts want it. */
function useEnded(
  record: MatchRecord | undefined,
  analysis: Props["analysis"],
  seat: number,
): MatchStore | undefined {
  const match = useMemo(() => {
    if (record === undefined) return undefined;
    const own = analysis?.then((answer) => ownPart(answer, seat));
    const found = new MatchStore(new ReceivedSource(record, undefined, own), record, false, seat);
    found.act((player, course) => goToEnd(player, course));
    return found;
  }, [record, analysis, seat]);
  useEffect(() => match?.run(), [match]);
  return match;
}

/** The seats that have won, the person's own first; none if the match is void. */
export function winnersOf({ ended, seat }: Session): readonly number[] {
  if (ended === undefined || ended.void) return [];
  const winners = ended.results.filter(({ rank }) => rank === 1).map((result) => result.seat);
  return winners.sort((a, b) => Number(b === seat) - Number(a === seat));
}

function outcomeText(store: PlayStore, { entries }: MatchSetting): string {
  const { ended, seat } = store.session.value;
  if (ended === undefined || ended.void) return t(play, "voided");
  const winners = winnersOf(store.session.value);
  if (winners.includes(seat)) return t(play, winners.length === 1 ? "won" : "tied");
  const names = winners.map((winner) => isolate(entries[winner] ?? ""));
  return names.length === 1
    ? t(play, "lostMatch", { name: names[0] ?? "" })
    : t(play, "othersTied", { names: list(names) });
}
