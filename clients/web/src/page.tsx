/** Shows the page that the address names. */

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { address, parsePath, type Route } from "./router.js";
import { Frame } from "./runs/frame.js";
import { MatchesPage } from "./runs/matches-page.js";
import { RunPage } from "./runs/run-page.js";
import { RunsPage } from "./runs/runs-page.js";
import { t } from "./words/language.js";
import { runs } from "./words/sections/runs.js";

type RouteOf<P extends Route["page"]> = Extract<Route, { page: P }>;

export function Page() {
  const route = parsePath(address.value.path);
  switch (route.page) {
    case "runs":
      return <RunsPage />;
    case "run":
      return <RunPage key={route.run} run={route.run} />;
    case "matches":
      return <MatchesPage key={route.run} run={route.run} />;
    default:
      return <Elsewhere route={route} />;
  }
}

/** Pages that are loaded when they are first shown: each takes its part of the route. */
const LOADERS: {
  readonly [P in Route["page"]]?: () => Promise<ComponentType<{ route: RouteOf<P> }>>;
} = {
  match: () => import("./replay/match-page.js").then((module) => module.MatchPage),
  block: () => import("./replay/block-page.js").then((module) => module.BlockPage),
  // play: () => import("./play/play-page.js").then((module) => module.PlayPage),
};

function Elsewhere({ route }: { route: Route }) {
  const load = LOADERS[route.page] as (() => Promise<ComponentType<{ route: Route }>>) | undefined;
  const [Shown, setShown] = useState<ComponentType<{ route: Route }>>();
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    let current = true;
    setFailed(false);
    load?.().then(
      (component) => current && setShown(() => component),
      () => current && setFailed(true),
    );
    return () => {
      current = false;
    };
  }, [load]);
  if (Shown !== undefined) return <Shown route={route} />;
  if (load !== undefined && !failed) return <p role="status">{t(runs, "loading")}</p>;
  return (
    <Frame title={t(runs, failed ? "retrying" : "notFound")}>
      <p>
        <a href="/">{t(runs, "toRuns")}</a>
      </p>
    </Frame>
  );
}
