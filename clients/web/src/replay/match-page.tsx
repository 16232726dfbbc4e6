/** The page of one match of a run. */

import { useMemo } from "preact/hooks";
import { pathOf } from "../router.js";
import { RunNews } from "../runs/run-news.js";
import { viewer as viewerSetting } from "../ui/settings.js";
import { parseViewer } from "./links.js";
import { MatchView } from "./match-view.js";
import { ServerSource } from "./server-source.js";

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
