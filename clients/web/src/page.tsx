/** Shows the page that the address names. */

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { address, parsePath, pathOf, type Route } from "./router.js";
import { Frame } from "./runs/frame.js";
import { MatchesPage } from "./runs/matches-page.js";
import { RunPage } from "./runs/run-page.js";
import { RunsPage } from "./runs/runs-page.js";
import { t } from "./words/language.js";
import { runs } from "./words/sections/runs.js";

type RouteOf<P extends Route["page"]> = Extract<Route, { page: P }>;
type Loaders = { readonly [P in Route["page"]]?: () => Promise<ComponentType<RouteOf<P>>> };

/** Pages that are loaded when they are first shown; their properties are those of the route. */
const LOADERS: Loaders = {
  match: () => import("./replay/match-page.js").then((module) => module.MatchPage),
  block: () => import("./replay/block-page.js").then((module) => module.BlockPage),
  play: () => import("./play/play-page.js").then((module) => module.PlayPage),
};

/** Starts to load the page that the address names, so that it is there when it is shown. */
export function loadPage(): void {
  loaderOf(parsePath(address.value.path))?.().catch(() => undefined); // told when it is shown
}

function loaderOf(route: Route): (() => Promise<ComponentType<Route>>) | undefined {
  return LOADERS[route.page] as (() => Promise<ComponentType<Route>>) | undefined;
}

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
      return <Loaded key={pathOf(route)} route={route} />;
  }
}

function Loaded({ route }: { route: Route }) {
  const load = loaderOf(route);
  const [Shown, setShown] = useState<ComponentType<Route>>();
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    let current = true;
    load?.().then(
      (component) => current && setShown(() => component),
      () => current && setFailed(true),
    );
    return () => {
      current = false;
    };
  }, [load]);
  if (Shown !== undefined) return <Shown {...route} />;
  if (load !== undefined && !failed) {
    return (
      <main>
        <p role="status">{t(runs, "loading")}</p>
      </main>
    );
  }
  return (
    <Frame title={t(runs, failed ? "failed" : "notFound")}>
      <p>
        <a href="/">{t(runs, "toRuns")}</a>
      </p>
    </Frame>
  );
}
