/** The address of the page, and links that change it without loading the page again. */

import { signal } from "@preact/signals";

export type Route =
  | { readonly page: "runs" }
  | { readonly page: "run"; readonly run: string }
  | { readonly page: "matches"; readonly run: string }
  | { readonly page: "match"; readonly run: string; readonly match: string }
  | { readonly page: "block"; readonly run: string; readonly block: string }
  | { readonly page: "play" }
  | { readonly page: "nowhere" };

/** The page that a path names. */
export function parsePath(path: string): Route {
  const parts = path.split("/").slice(1).map(decoded);
  const [first, run, third, fourth] = parts;
  if (first === "" && parts.length === 1) return { page: "runs" };
  if (first === "play" && parts.length === 1) return { page: "play" };
  if (first !== "runs" || !run) return { page: "nowhere" };
  if (parts.length === 2) return { page: "run", run };
  if (third === "matches" && parts.length === 3) return { page: "matches", run };
  if (parts.length !== 4 || !fourth) return { page: "nowhere" };
  if (third === "matches") return { page: "match", run, match: fourth };
  if (third === "blocks") return { page: "block", run, block: fourth };
  return { page: "nowhere" };
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined; // a stray %
  }
}

/** The path of a page. */
export function pathOf(route: Route): string {
  switch (route.page) {
    case "runs":
    case "nowhere":
      return "/";
    case "play":
      return "/play";
    case "run":
      return `/runs/${encodeURIComponent(route.run)}`;
    case "matches":
      return `/runs/${encodeURIComponent(route.run)}/matches`;
    case "match":
      return `/runs/${encodeURIComponent(route.run)}/matches/${encodeURIComponent(route.match)}`;
    case "block":
      return `/runs/${encodeURIComponent(route.run)}/blocks/${encodeURIComponent(route.block)}`;
  }
}

/** Path and query of the page that is shown. */
export const address = signal({ path: "/", query: "" });

function read(): void {
  const { pathname: path, search: query } = location;
  const now = address.peek();
  if (now.path !== path || now.query !== query) address.value = { path, query };
}

/** What the browser's history stores with each address. */
interface Entry {
  /** How far down the page was when it was left. */
  readonly scrolled?: number;
  /** Path from which a link led here. */
  readonly from?: string;
}

const entry = (): Entry => (history.state ?? {}) as Entry;

/** Shows another page, as a link does. */
export function go(href: string): void {
  history.replaceState({ ...entry(), scrolled: window.scrollY }, "");
  history.pushState({ from: location.pathname }, "", href);
  read();
  window.scrollTo(0, 0);
}

/** How far down the page was when it was left, after Back; 0 otherwise. */
export function scrolledBefore(): number {
  return entry().scrolled ?? 0;
}

/** Goes back if a link on the page of this path led here, so that it is as it was. */
export function wentBack(path: string): boolean {
  if (entry().from !== path) return false;
  history.back();
  return true;
}

/** Changes the query of the address; the page stays, and Back skips the change. */
export function replaceQuery(query: URLSearchParams): void {
  const text = query.toString();
  history.replaceState(history.state, "", location.pathname + (text && `?${text}`));
  read();
}

/** Follows links inside the page without loading it again. */
export function startRouter(): void {
  read();
  window.addEventListener("popstate", read);
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const plain =
      event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (link === null || !plain || event.defaultPrevented) return;
    if (link.target !== "" || link.hasAttribute("download") || link.origin !== location.origin)
      return;
    const elsewhere = link.pathname !== location.pathname || link.search !== location.search;
    if (!elsewhere || parsePath(link.pathname).page === "nowhere") return;
    event.preventDefault();
    go(link.href);
  });
}
