/** Shows the page that the address names. */

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { address, parsePath, pathOf, type Route } from "./router.js";
import { t } from "./words/language.js";
import { runs } from "./words/sections/runs.js";

type RouteOf<P extends Route["page"]> = Extract<Route, { page: P }>;
type Loaders = { readonly [P in Route["page"]]: () => Promise<ComponentType<RouteOf<P>>> };

/** Pages are loaded when they are first shown; their properties are those of the route. */
const LOADERS: Loaders = {
  runs: () => import("./runs/index.js").then((module) => module.RunsPage),
  run: () => import("./runs/index.js").then((module) => module.RunPage),
  matches: () => import("./runs/index.js").then((module) => module.MatchesPage),
  match: () => import("./runs/match-page.js").then((module) => module.MatchPage),
  block: () => import("./replay/block/block-page.js").then((module) => module.BlockPage),
  play: () => import("./play/play-page.js").then((module) => module.PlayPage),
  nowhere: () => import("./runs/index.js").then((module) => module.NowherePage),
};

const loaded = new Map<Route["page"], ComponentType<Route>>();

async function load(page: Route["page"]): Promise<ComponentType<Route>> {
  const component = (await LOADERS[page]()) as ComponentType<Route>;
  loaded.set(page, component);
  return component;
}

/** Starts to load the page that the address names, so that it is there when it is shown. */
export function loadPage(): void {
  load(parsePath(address.value.path).page).catch(() => undefined); // told when it is shown
}

export function Page() {
  const route = parsePath(address.value.path);
  return <Loaded key={pathOf(route)} route={route} />;
}

function Loaded({ route }: { route: Route }) {
  const [Shown, setShown] = useState(() => loaded.get(route.page));
  const [failed, setFailed] = useState(false);
  const { page } = route;
  useEffect(() => {
    let current = true;
    load(page).then(
      (component) => current && setShown(() => component),
      () => current && setFailed(true),
    );
    return () => {
      current = false;
    };
  }, [page]);
  if (Shown !== undefined) return <Shown {...route} />;
  return (
    <main>
      {failed ? (
        <p role="alert">
          {t(runs, "failed")} <a href="/">{t(runs, "toRuns")}</a>
        </p>
      ) : (
        <p role="status">{t(runs, "loading")}</p>
      )}
    </main>
  );
}
