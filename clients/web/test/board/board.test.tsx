/** What the board draws, and how it is named for those who do not see it. */

import { RuleSet } from "asara/gen/vocabulary_pb.js";
import { renderToString } from "preact-render-to-string";
import { afterEach, describe, expect, test } from "vitest";
import { placesOf } from "../../src/board/animation.js";
import { plan } from "../../src/board/city.js";
import { Board, SectionIcon } from "../../src/board/index.js";
import { areaRules } from "../../src/board/names.js";
import { towerSections } from "../../src/board/pieces.js";
import { towerScale } from "../../src/board/skyline.js";
import { areaStates } from "../../src/board/table.js";
import type { MatchRecord, Viewer } from "../../src/match/model.js";
import { LANGUAGES } from "../../src/words/catalogue.js";
import { language } from "../../src/words/language.js";
import { areaName } from "../../src/words/vocabulary.js";
import { SAMPLES, sampleRecord } from "../samples.js";

afterEach(() => {
  language.value = "en";
});

const EVERYBODY: Viewer = { kind: "everybody" };

function drawn({ setting, moments }: MatchRecord, index: number): string {
  const moment = moments.at(index);
  if (moment === undefined) throw new Error("no such moment");
  return renderToString(<Board setting={setting} moment={moment} />);
}

function labels(html: string): string[] {
  return [...html.matchAll(/aria-label="([^"]*)"/g)].map(([, label]) => label ?? "");
}

describe.each(SAMPLES)("in %s", (name) => {
  const record = sampleRecord(name, EVERYBODY);
  const open = sampleRecord(name, { kind: "open" });

  test("every space of the edition is drawn once at every moment, and named", () => {
    const count = record.setting.edition.spaces.length;
    for (let i = 0; i < record.moments.length; i += 60) {
      const targets = drawn(record, i).match(/data-target="space \d+ \d+"/g) ?? [];
      expect(new Set(targets).size).toBe(count);
      expect(targets).toHaveLength(count);
    }
  });

  test("all that is drawn has a name", () => {
    for (const label of labels(drawn(open, -1))) expect(label.trim()).not.toBe("");
  });

  test("everybody sees closed screens, backs and no purse", () => {
    const html = drawn(record, record.moments.length >> 1);
    const seats = record.setting.entries.length;
    expect(labels(html).filter((label) => label.startsWith("Hidden"))).toHaveLength(seats);
    expect(html).not.toMatch(/data-target="hand/);
    expect(labels(html).some((label) => label.startsWith("Purse"))).toBe(false);
  });

  test("a seat's viewer sees that seat's purse and hand, and the screens of the others", () => {
    const mine = sampleRecord(name, { kind: "seat", seat: 1 });
    const html = drawn(mine, mine.moments.length >> 1);
    const hidden = labels(html).filter((label) => label.startsWith("Hidden"));
    expect(hidden).toHaveLength(record.setting.entries.length - 1);
    expect(labels(html).filter((label) => label.startsWith("Purse"))).toHaveLength(1);
  });

  test("parts that are not in play are absent", () => {
    const html = drawn(record, 1);
    const rules = record.setting.ruleSets;
    const names = [10, 11, 12].map((area) => html.includes(areaName(area)));
    const pro = rules.includes(RuleSet.PROFESSIONAL);
    expect(names).toEqual([pro, pro, rules.includes(RuleSet.GENIE)]);
    expect(html.includes('data-place="supply gifts"')).toBe(rules.includes(RuleSet.GIFTS));
    expect(html.includes('data-place="supply lit"')).toBe(pro);
  });

  test("a tower is drawn with each of its sections, and every tower fits", () => {
    for (const { table } of open.moments) {
      const { seats } = table.publicView;
      const scale = towerScale(seats);
      for (const { towers } of seats) {
        expect(towers.length * 44 * scale).toBeLessThanOrEqual(321);
        for (const tower of towers) {
          const sections = towerSections(tower);
          const windows = sections.filter(({ kind }) => kind === 3);
          expect(windows).toHaveLength(tower.plainWindows + tower.goldWindows);
          expect(sections.filter(({ lit }) => lit)).toHaveLength(
            tower.litPlainWindows + tower.litGoldWindows,
          );
          expect(sections.filter(({ gold }) => gold)).toHaveLength(
            Number(tower.baseGold) +
              tower.goldTrunks +
              tower.goldWindows +
              Number(tower.turretGold),
          );
        }
      }
    }
  });

  test("what is marked after an event is on the board", () => {
    for (const { events, index } of record.moments) {
      const places = events.flatMap(placesOf);
      if (places.length === 0 || index % 23 !== 0) continue;
      const html = drawn(record, index);
      for (const place of places) expect(html).toContain(`data-place="${place}"`);
    }
  });
});

test("the names are those of the reader's language", () => {
  const record = sampleRecord("richest-4", EVERYBODY);
  const texts = new Set<string>();
  for (const tongue of LANGUAGES) {
    language.value = tongue;
    const html = drawn(record, 30);
    for (let area = 1; area <= 12; area++) expect(html).toContain(areaName(area).split(" ")[0]);
    texts.add(labels(html).join());
  }
  expect(texts.size).toBe(LANGUAGES.length);
});

test("a forfeit is told with its reason", () => {
  const record = sampleRecord("forfeit-3", EVERYBODY);
  expect(drawn(record, -1)).toMatch(/class="forfeit">[^<]+</);
  expect(drawn(record, 0)).not.toContain('class="forfeit"');
});

test("a lit window hides the gold that it covers", () => {
  const plain = renderToString(<SectionIcon kind={3} colour={1} gold />);
  const lit = renderToString(<SectionIcon kind={3} colour={1} gold lit />);
  expect(plain).toContain("gold-crown");
  expect(lit).not.toContain("gold-crown");
  expect(lit).toContain("glow");
});

test("materials differ by their lines, kinds by their outlines", () => {
  const paths = (kind: number, colour: number) =>
    renderToString(<SectionIcon kind={kind} colour={colour} />).match(/ d="[^"]*/g) ?? [];
  expect(new Set([1, 2, 3, 4].map((kind) => paths(kind, 1)[0])).size).toBe(4);
  expect(new Set([1, 2, 3, 4, 5].map((colour) => paths(2, colour)[1])).size).toBe(5);
});

test("the name of an entry is text, whatever it contains", () => {
  const { setting, moments } = sampleRecord("basic-2", EVERYBODY);
  const moment = moments[0];
  if (moment === undefined) throw new Error("no moment");
  const name = '<script>alert("1")</script>\u202e';
  const html = renderToString(
    <Board setting={{ ...setting, entries: [name, name] }} moment={moment} />,
  );
  expect(html).not.toContain("<script");
  expect(html).toContain("&lt;script");
});

describe("the plan of the city", () => {
  const { setting, moments } = sampleRecord("richest-4", EVERYBODY);
  const table = moments[0]?.table;
  if (table === undefined) throw new Error("no moment");
  const areas = new Set(areaStates(setting, table).keys());

  test.each([false, true])("has every area inside the drawing, none over another", (narrow) => {
    const { width, height, panels } = plan(areas, narrow);
    expect(panels).toHaveLength(6);
    for (const { x, y } of panels) {
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x + 180).toBeLessThanOrEqual(width);
      expect(y).toBeGreaterThanOrEqual(0);
      expect(y + 138).toBeLessThanOrEqual(height);
    }
    for (const [i, one] of panels.entries()) {
      for (const other of panels.slice(i + 1)) {
        expect(Math.abs(one.x - other.x) >= 180 || Math.abs(one.y - other.y) >= 138).toBe(true);
      }
    }
  });
});

test("gift cards on a chest space are named", () => {
  const record = sampleRecord("richest-4", EVERYBODY);
  expect(labels(drawn(record, 0)).filter((label) => label.includes("gift cards"))).toHaveLength(6);
});

test("the rules of an area explain each kind of gift card on it once", () => {
  const { setting, moments } = sampleRecord("richest-4");
  const table = moments.find(({ table }) => table.publicView.chests.length > 0)?.table;
  expect(table).toBeDefined();
  if (table === undefined) return;
  for (const state of areaStates(setting, table).values()) {
    const [rule, ...gifts] = areaRules(state, setting).split("\n");
    expect(rule).not.toBe("");
    const cards = state.spaces.flatMap((space) => space.cards);
    expect(gifts.length > 0).toBe(cards.length > 0);
    expect(new Set(gifts).size).toBe(gifts.length);
  }
});
