/** The page of one match of a run. */

import { useMemo } from "preact/hooks";
import { parseViewer } from "../replay/links.js";
import { MatchView } from "../replay/match-view.js";
import { ServerSource } from "../replay/server-source.js";
import { pathOf } from "../router.js";
import { viewer as viewerSetting } from "../settings.js";
import { RunNews } from "./run-news.js";

export interface MatchPageProps {
  readonly run: string;
  readonly match: string;
}

export function MatchPage({ run, match }: MatchPageProps) {
  const query = new URLSearchParams(location.search);
  const source = useMemo(() => {
    const asked = parseViewer(new URLSearchParams(location.search).get("viewer"));
    const viewer = asked ?? parseViewer(viewerSetting.value) ?? { kind: "everybody" as const };
    return new ServerSource(run, match, viewer);
  }, [run, match]);
  const deal = source.record.value?.setting.sharedDeal ?? "";
  const block = deal === "" ? undefined : pathOf({ page: "block", run, block: deal });
  const up = pathOf({ page: "matches", run });
  const { kind } = source.state.value;
  const live = kind === "live" || kind === "lost";
  const news = <RunNews run={run} match={match} live={live} />;
  return (
    <MatchView source={source} embedded={query.has("embed")} block={block} up={up} news={news} />
  );
}
