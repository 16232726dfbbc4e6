/** The table in words, for screen readers and as a list that one can read. */

import type { PublicView } from "asara/gen/view_pb.js";
import {
  Area,
  type Edition,
  RuleSet,
  SectionKind,
  type SpaceInfo,
  type Tower,
} from "asara/gen/vocabulary_pb.js";
import type { MatchSetting, TableState } from "../match/model.js";
import { t } from "./language.js";
import { list } from "./numbers.js";
import { seatName, terminationText, towerHeight } from "./sentences.js";
import {
  areaName,
  asariText,
  buyerColourName,
  buyerColoursPhrase,
  capitalised,
  counted,
  giftName,
  kindPhrase,
  litWindowCount,
  litWindowsPhrase,
  pointsText,
  sectionsPhrase,
  spaceName,
  texts,
  times,
  towerPhrase,
} from "./vocabulary.js";

/** A part of the table: a heading and what stands there, line by line. */
export interface TablePart {
  readonly heading: string;
  readonly lines: readonly string[];
}

/** Returns the table in words: the year, the markets, the city, and each seat. */
export function tableText(state: TableState, setting: MatchSetting): TablePart[] {
  const { publicView } = state;
  return [
    yearPart(publicView, setting),
    {
      heading: t(texts, "markets"),
      lines: publicView.markets.map((_, index) => marketLine(publicView, index)),
    },
    { heading: t(texts, "city"), lines: areaLines(publicView, setting) },
    ...publicView.seats.map((_, seat) => seatPart(state, setting, seat)),
  ];
}

function line(what: string, content: string): string {
  return t(texts, "line", { what, content });
}

function yearPart(view: PublicView, setting: MatchSetting): TablePart {
  const { year, turnSeat, patronageSeat } = view;
  const { edition, ruleSets } = setting;
  const lines = [
    t(texts, "turn", { who: seatName(turnSeat, setting) }),
    t(texts, "patronage", { who: seatName(patronageSeat, setting) }),
    t(texts, "piles", { buyers: view.buyerPileSize }),
  ];
  if (ruleSets.includes(RuleSet.PROFESSIONAL)) {
    lines.push(t(texts, "stack", { windows: view.litWindowStackSize }));
  }
  if (ruleSets.includes(RuleSet.GIFTS)) lines.push(t(texts, "deck", { gifts: view.giftDeckSize }));
  return { heading: t(texts, "year", { year, years: edition.years }), lines };
}

function marketLine(view: PublicView, index: number): string {
  const market = view.markets[index];
  if (market === undefined) return "";
  const display =
    market.display.length === 0 ? t(texts, "emptyDisplay") : sectionsPhrase(market.display);
  const pile = t(texts, "pile", { n: market.pileSize });
  return line(areaName(market.kind as number as Area), `${display} (${pile})`);
}

function areasOf(edition: Edition): Map<Area, SpaceInfo[]> {
  const areas = new Map<Area, SpaceInfo[]>();
  for (const info of edition.spaces) {
    const area = info.space?.area ?? Area.UNSPECIFIED;
    areas.set(area, [...(areas.get(area) ?? []), info]);
  }
  return areas;
}

function areaLines(view: PublicView, setting: MatchSetting): string[] {
  return [...areasOf(setting.edition)].map(([area, spaces]) => {
    const colour = view.areas.find((each) => each.area === area)?.colour ?? 0;
    const name = areaName(area);
    const heading =
      colour === 0
        ? name
        : `${name} (${t(texts, "areaColour", { colour: buyerColourName(colour) })})`;
    return line(heading, areaContent(view, setting, area, spaces));
  });
}

function areaContent(
  view: PublicView,
  setting: MatchSetting,
  area: Area,
  spaces: readonly SpaceInfo[],
): string {
  const dispatched = view.areas.find((each) => each.area === area)?.dispatched ?? [];
  const single = area === Area.COLOURED_BUILDING || area === Area.CALIPHS_PATRONAGE;
  const free: number[] = [];
  const parts: string[] = [];
  for (const { space } of spaces) {
    const n = space?.number ?? 0;
    const buyers = dispatched
      .filter((each) => each.number === n)
      .map(({ seat, colour }) => {
        const name = seatName(seat, setting);
        // On the coloured building, all buyers lie face down.
        const hidden = colour === 0 && area !== Area.COLOURED_BUILDING;
        return hidden ? `${name} (${t(texts, "faceDown")})` : name;
      });
    const groups = counted(buyers, (text) => text).map(({ thing, count }) => times(count, thing));
    const gifts = chestText(view, area, n);
    const content = [list(groups), gifts].filter((text) => text !== "").join(", ");
    if (content === "") free.push(n);
    else parts.push(single ? content : line(spaceNumber(area, n), content));
  }
  if (single && free.length > 0) parts.push(t(texts, "empty"));
  else if (free.length > 0) parts.push(t(texts, "freeSpaces", { spaces: list(free.map(String)) }));
  return parts.join(t(texts, "between"));
}

function spaceNumber(area: Area, n: number): string {
  return t(texts, area === Area.BUILDING_CIRCLE ? "plotNumber" : "spaceNumber", { n });
}

function chestText(view: PublicView, area: Area, n: number): string {
  const chest = view.chests.find(({ space }) => space?.area === area && space.number === n);
  if (chest === undefined || chest.cards.length === 0) return "";
  return t(texts, "gifts", { cards: list(chest.cards.map(giftName)) });
}

function seatPart(state: TableState, setting: MatchSetting, seat: number): TablePart {
  const view = state.publicView.seats[seat];
  if (view === undefined) return { heading: seatName(seat, setting), lines: [] };
  const lines: string[] = [];
  const forfeit = state.forfeits[seat];
  if (forfeit !== undefined) lines.push(capitalised(terminationText(forfeit)));
  if (view.litWindows > 0) lines.push(t(texts, "unbuiltLit", { count: view.litWindows }));
  if (view.towers.length === 0) lines.push(capitalised(t(texts, "noTowers")));
  lines.push(...view.towers.map(towerText), ...privateLines(state, seat));
  const heading = t(texts, "player", {
    who: seatName(seat, setting),
    points: pointsText(view.prestige),
    hand: view.handSize,
  });
  return { heading, lines };
}

/** Returns a tower in words: its number, colour, height and sections, from below. */
export function towerText(tower: Tower): string {
  const height = t(texts, "height", { n: towerHeight(tower) });
  return t(texts, "towerText", {
    number: tower.number,
    tower: towerPhrase(tower.colour, { alone: true }),
    height,
    content: list(towerSections(tower)),
  });
}

function towerSections(tower: Tower): string[] {
  const { BASE, TRUNK, WINDOW, TURRET } = SectionKind;
  const parts: string[] = [];
  const add = (kind: SectionKind, count: number, gold: boolean) => {
    if (count > 0) parts.push(kindPhrase(kind, { count, gold }));
  };
  add(BASE, 1, tower.baseGold);
  add(TRUNK, tower.plainTrunks, false);
  add(TRUNK, tower.goldTrunks, true);
  add(WINDOW, tower.plainWindows - tower.litPlainWindows, false);
  add(WINDOW, tower.goldWindows - tower.litGoldWindows, true);
  if (tower.litPlainWindows > 0) parts.push(litWindowCount(tower.litPlainWindows));
  if (tower.litGoldWindows > 0) {
    parts.push(t(texts, "litOverGold", { count: tower.litGoldWindows }));
  }
  add(TURRET, 1, tower.turretGold);
  return parts;
}

function privateLines(state: TableState, seat: number): string[] {
  const view = state.privateViews[seat];
  if (view === undefined) return [];
  const nothing = t(texts, "nothing");
  const hand = view.hand.length === 0 ? nothing : buyerColoursPhrase(view.hand);
  const stock = [sectionsPhrase(view.sections), litWindowsPhrase(view.litWindows)].filter(
    (text) => text !== "",
  );
  const laid = view.faceDown.map(({ space, buyers }) =>
    t(texts, "laidFaceDown", {
      space: space === undefined ? "" : spaceName(space),
      buyers: buyerColoursPhrase(buyers),
    }),
  );
  return [
    t(texts, "purse", { asari: asariText(view.asari) }),
    t(texts, "hand", { buyers: hand }),
    t(texts, "stock", { sections: stock.length === 0 ? nothing : stock.join(t(texts, "between")) }),
    ...laid,
  ];
}
