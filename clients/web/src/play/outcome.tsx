/** The end of a match: who won, the final scoring, and what can be done next. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { MatchRecord, MatchSetting } from "../match/model.js";
import { ReceivedSource } from "../replay/held-source.js";
import { goToEnd } from "../replay/player.js";
import { Awards, Ledger, Results } from "../replay/scoring/scoring-view.js";
import { type Fetched, fetchView } from "../replay/server-source.js";
import { MatchStore } from "../replay/store.js";
import { address, pathOf } from "../router.js";
import { isolate, t } from "../words/language.js";
import { list } from "../words/numbers.js";
import { play } from "../words/sections/play.js";
import type { PlayStore } from "./store.js";

const REPLAY = "replay"; // in the query of the address while the page shows the replay
const RETRY_MS = 250;
const MOST_RETRIES = 40; // ten seconds

interface Props {
  readonly store: PlayStore;
  readonly setting: MatchSetting;
  /** The match from its beginning, or what the page has received of it. */
  readonly record: MatchRecord | undefined;
  readonly complete: boolean;
}

export function Outcome({ store, setting, record, complete }: Props) {
  const { ended, started } = store.session.value;
  const match = useEnded(record);
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
  const [replay, setReplay] = useState<Fetched>();
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
        (found) => current && setReplay(found),
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
        source: new ReceivedSource(replay.record, replay.view),
      };
    }
    const record: MatchRecord = { setting, moments, results: ended?.results };
    return { record, complete, source: new ReceivedSource(record) };
  }, [over, setting, moments, ended, replay, complete]);
}

/** The finished match as the match page's parts want it. */
function useEnded(record: MatchRecord | undefined): MatchStore | undefined {
  const match = useMemo(() => {
    if (record === undefined) return undefined;
    const found = new MatchStore(new ReceivedSource(record), record);
    found.act((player, course) => goToEnd(player, course));
    return found;
  }, [record]);
  useEffect(() => match?.run(), [match]);
  return match;
}

function outcomeText(store: PlayStore, { entries }: MatchSetting): string {
  const { ended, seat } = store.session.value;
  if (ended === undefined || ended.void) return t(play, "voided");
  const winners = ended.results.filter(({ rank }) => rank === 1).map((result) => result.seat);
  if (winners.includes(seat)) return t(play, winners.length === 1 ? "won" : "tied");
  const names = winners.map((winner) => isolate(entries[winner] ?? ""));
  return names.length === 1
    ? t(play, "lostMatch", { name: names[0] ?? "" })
    : t(play, "othersTied", { names: list(names) });
}
