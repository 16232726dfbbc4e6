/** The parts of the pages about runs that need no browser. */

import { describe, expect, it } from "vitest";
import { parsePath, pathOf, type Route } from "../src/router.js";
import { cellKey, cells } from "../src/runs/cross-table.js";
import { target } from "../src/runs/match-list.js";
import { pagesOf } from "../src/runs/match-rows.js";
import { changed, filterOf, queryOf } from "../src/runs/matches-page.js";
import { faultText, rulesText } from "../src/runs/names.js";
import { secondsLeft } from "../src/runs/progress.js";
import { nextMatch } from "../src/runs/run-news.js";
import { runs } from "../src/words/sections/runs.js";

const HOSTILE = 'a/../b?c#d%41 <&"\u202e+';

describe("addresses", () => {
  const routes: Route[] = [
    { page: "runs" },
    { page: "play" },
    { page: "run", run: HOSTILE },
    { page: "matches", run: HOSTILE },
    { page: "match", run: "cup", match: "r1-pro+gifts-0001-1" },
    { page: "match", run: HOSTILE, match: HOSTILE },
    { page: "block", run: HOSTILE, block: HOSTILE },
  ];

  it.each(routes)("of $page lead back to it", (route) => {
    expect(parsePath(pathOf(route))).toEqual(route);
  });

  it.each([
    "/x",
    "/runs",
    "/runs/",
    "/runs/%",
    "/runs/a/b",
    "/runs/a/matches/",
    "/runs/a/matches/b/c",
  ])("%s leads nowhere", (path) => {
    expect(parsePath(path).page).toBe("nowhere");
  });
});

describe("filters", () => {
  it("are the same after a way through the address", () => {
    const filter = filterOf(`?${new URLSearchParams({ entry: HOSTILE, forfeit: "any" })}`);
    expect(filterOf(queryOf(filter).toString())).toEqual(filter);
    expect(filter.entry).toBe(HOSTILE);
  });

  it("lose what means nothing without an entry", () => {
    const filter = filterOf("?entry=a&opponent=b&result=won");
    expect(queryOf(changed(filter, "entry", "")).toString()).toBe("");
    expect(queryOf(changed(filter, "entry", "b")).toString()).toBe("entry=b&result=won");
  });
});

describe("a long list", () => {
  it("requests the pages in sight", () => {
    expect(pagesOf(0, 1)).toEqual([0]);
    expect(pagesOf(95, 105)).toEqual([0, 1]);
    expect(pagesOf(99_950, 100_000)).toEqual([999]);
  });

  it("is walked through by keys, and not beyond its ends", () => {
    expect(target("ArrowDown", 3, 10, 5)).toBe(4);
    expect(target("PageDown", 3, 10, 5)).toBe(5);
    expect(target("ArrowUp", 0, 10, 5)).toBe(0);
    expect(target("End", 0, 10, 5)).toBe(5);
    expect(target("x", 0, 10, 5)).toBeUndefined();
    expect(target("ArrowDown", undefined, 10, 5)).toBeUndefined();
  });
});

it("the cross table has both directions of a pair", () => {
  const pair = { entry: "a", opponent: "b", score: 0.75, matches: 4 };
  const found = cells({ cross_table: [pair] });
  expect(found.get(cellKey("b", "a"))).toEqual({ score: 0.25, matches: 4 });
});

it("the time left follows from the pace", () => {
  const progress = { scheduled: 30, over: 10, void: 0, pace: { matches: 10, since_ms: 1_000 } };
  expect(secondsLeft(progress, 21_000)).toBe(40);
  expect(
    secondsLeft({ ...progress, pace: { matches: 0, since_ms: 1_000 } }, 2_000),
  ).toBeUndefined();
});

it("words of a run that the page does not know are shown as they are", () => {
  expect(rulesText("chess")).toBe("chess");
  expect(faultText("unheard_of")).toBe("unheard_of");
  expect(faultText("time_out")).toBe("out of time");
  expect(rulesText("pro+gifts")).not.toContain("+");
});

it("every language has every text", () => {
  const keys = Object.keys(runs.en).sort();
  for (const texts of Object.values(runs)) expect(Object.keys(texts).sort()).toEqual(keys);
});

describe("the next running match", () => {
  const table = (name?: string) => ({ ...(name && { name }), entries: [], started_ms: 0 });
  const running = [table("c"), table(), table("b")];

  it.each([
    ["c", "b"],
    ["b", "c"],
    ["over", "c"],
  ])("after %s is %s, and never one that cannot be watched", (match, next) => {
    expect(nextMatch(running, match)).toBe(next);
  });

  it("is none if there is no other", () => {
    expect(nextMatch([table("c"), table()], "c")).toBeUndefined();
    expect(nextMatch([table()], "c")).toBeUndefined();
  });
});
