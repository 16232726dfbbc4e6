/**
 * Public views from events alone.
 *
 * A view is never changed: each event makes a new one that shares all unchanged parts with the one
 * before, so two parts are equal if they are the same object.
 */

import { create } from "@bufbuild/protobuf";
import type {
  BuyersDispatched,
  DisplayFilled,
  Event,
  GiftLaid,
  GiftTaken,
  LitWindowsKept,
  SectionTaken,
  Termination,
  YearStarted,
} from "asara/gen/event_pb.js";
import {
  type AreaView,
  AreaViewSchema,
  type Chest,
  ChestSchema,
  DispatchedSchema,
  type Market,
  MarketSchema,
  type PrivateView,
  type PublicView,
  PublicViewSchema,
  type SeatView,
  SeatViewSchema,
} from "asara/gen/view_pb.js";
import {
  Area,
  type Edition,
  GiftKind,
  RuleSet,
  type Section,
  SectionKind,
  type Space,
  type Tower,
} from "asara/gen/vocabulary_pb.js";
import { MatchError } from "./errors.js";

/** A match after some of its events. */
export interface Fold {
  /** The public view, if all that the events leave open has been done; see `tableView`. */
  readonly view: PublicView;
  /** Reasons of forfeits by seat; undefined for seats that still play. */
  readonly forfeits: readonly (Termination | undefined)[];
  /** Money received less money paid, by seat. */
  readonly asari: readonly number[];
  readonly turn: Turn;
  /** Constants of the match. */
  readonly setting: Setting;
}

interface Setting {
  /** Number of all buyers. */
  readonly buyers: number;
  /** Spaces that have had gift cards, in the order in which cards are laid. */
  readonly chests: readonly Space[];
}

/** What the events of a turn say about its end. */
interface Turn {
  readonly seat: number;
  /** Kind of the gift card whose purchase is the next one; UNSPECIFIED if there is none. */
  readonly gift: GiftKind;
  /** Number of sections that remain to be built. */
  readonly toBuild: number;
  /** Number of lit windows drawn. */
  readonly drawn: number;
  /** Number of lit windows that go back under the stack, without any event. */
  readonly returned: number;
}

const NO_GIFT = GiftKind.UNSPECIFIED;
const KINDS = [SectionKind.BASE, SectionKind.TRUNK, SectionKind.WINDOW, SectionKind.TURRET];

/** Returns a match before its first event. */
export function startFold(edition: Edition, ruleSets: readonly RuleSet[], seats: number): Fold {
  const tiles = (kind: SectionKind) => edition.tiles.filter((tile) => tile.kind === kind);
  const markets = KINDS.map((kind) =>
    create(MarketSchema, { kind, pileSize: sum(tiles(kind).map((t) => t.plain + t.gold)) }),
  );
  const professional = ruleSets.includes(RuleSet.PROFESSIONAL);
  const gifts = ruleSets.includes(RuleSet.GIFTS);
  const view = create(PublicViewSchema, {
    markets,
    litWindowStackSize: professional ? sum(edition.colours.map((c) => c.litWindows)) : 0,
    giftDeckSize: gifts ? sum(edition.gifts.map((gift) => gift.count)) : 0,
    seats: Array.from({ length: seats }, (_, seat) => create(SeatViewSchema, { seat })),
  });
  return {
    view,
    forfeits: view.seats.map(() => undefined),
    asari: view.seats.map(() => 0),
    turn: newTurn(0),
    setting: { buyers: sum(edition.buyers.map((buyer) => buyer.count)), chests: [] },
  };
}

/**
 * Returns the match after one more event.
 *
 * @throws {MatchError} if it is no event of this match.
 */
export function foldEvent(fold: Fold, event: Event): Fold {
  if (fold.view.seats[event.seat] === undefined) {
    throw new MatchError(`An event concerns seat ${event.seat}, which the match does not have.`);
  }
  const folded = foldKind(fold, event);
  if (event.prestige === 0 && event.asari === 0) return folded;
  const asari = folded.asari.map((sum, seat) => (seat === event.seat ? sum + event.asari : sum));
  return { ...changeSeat(folded, event.seat, addPrestige(event.prestige)), asari };
}

/** Returns the match after more events; throws as `foldEvent` does. */
export function foldEvents(fold: Fold, events: Iterable<Event>): Fold {
  let folded = fold;
  for (const event of events) folded = foldEvent(folded, event);
  return folded;
}

/**
 * Returns the public view, as it is for those who see these private views.
 *
 * Two things happen within a turn without an event: a buyer is chosen through a gift card, and lit
 * windows go back under the stack. `fold.view` has them as done, which they are when the turn has
 * ended; in the private view of the seat whose turn it is, they can be seen to be still open.
 */
export function tableView(
  { view, turn }: Fold,
  privateViews: readonly (PrivateView | undefined)[],
): PublicView {
  const own = privateViews[turn.seat];
  const shown = view.seats[turn.seat];
  if (own === undefined || shown === undefined) return view;
  let table = view;
  const missing = shown.handSize - own.hand.length;
  if (missing !== 0) {
    const handSize = own.hand.length;
    const seats = view.seats.map((seat) => (seat === shown ? { ...seat, handSize } : seat));
    table = { ...table, seats, buyerPileSize: view.buyerPileSize + missing };
  }
  const drawn = turn.returned > 0 ? own.searchedLitWindows.length : 0;
  if (drawn === 0) return table;
  const litWindowStackSize = view.litWindowStackSize - drawn;
  return { ...table, litWindowStackSize, turnSeat: turn.seat };
}

function foldKind(fold: Fold, { seat, event }: Event): Fold {
  switch (event.case) {
    case "yearStarted":
      return startYear(fold, seat, event.value);
    case "displayFilled":
      return fillDisplay(fold, event.value);
    case "giftLaid":
      return layGift(fold, event.value);
    case "buyersDispatched":
      return dispatch(fold, seat, event.value);
    case "giftTaken":
      return takeGift(fold, seat, event.value);
    case "sectionTaken":
      return takeSection(fold, event.value);
    case "moveDeclined":
    case "moveLost":
    case "fundsTaken":
      return endTurn(fold);
    case "patronageTaken":
      return endTurn(change(fold, { patronageSeat: seat }));
    case "buyersRecruited":
      return endTurn(recruit(fold, seat, event.value.count));
    case "litWindowsDrawn": {
      const litWindowStackSize = fold.view.litWindowStackSize - event.value.count;
      return changeTurn(change(fold, { litWindowStackSize }), { drawn: event.value.count });
    }
    case "litWindowsKept":
      return keepLitWindows(fold, seat, event.value);
    case "buildStarted":
      return changeTurn(fold, { toBuild: event.value.count });
    case "towerFounded":
      return build(fold, seat, 2, foundTower(event.value.tower));
    case "towerExtended":
      return build(fold, seat, 1, extendTower(event.value.tower, event.value.section));
    case "windowLit":
      return build(fold, seat, 1, lightWindow(event.value.tower, event.value.gold));
    case "seatForfeited":
      return { ...fold, forfeits: withItem(fold.forfeits, seat, event.value.termination) };
    default: // events that change nothing but purse and prestige, and those of later versions
      return fold;
  }
}

// Years

function startYear(fold: Fold, seat: number, { year, handSize }: YearStarted): Fold {
  const seats = fold.view.seats.map((own) => ({ ...own, handSize }));
  const buyerPileSize = fold.setting.buyers - handSize * seats.length;
  return {
    ...change(fold, { year, turnSeat: seat, areas: [], seats, buyerPileSize }),
    turn: newTurn(seat),
  };
}

function fillDisplay(fold: Fold, { sections }: DisplayFilled): Fold {
  const kind = sections[0]?.kind ?? SectionKind.UNSPECIFIED;
  return changeMarket(fold, kind, ({ display, pileSize }) => ({
    display: [...display, ...sections].sort(bySection),
    pileSize: pileSize - sections.length,
  }));
}

function layGift(fold: Fold, { space, card }: GiftLaid): Fold {
  if (space === undefined || card === undefined) return fold;
  const known = fold.setting.chests.some((chest) => sameSpace(chest, space));
  const order = known ? fold.setting.chests : [...fold.setting.chests, space];
  const rest = fold.view.chests.filter((chest) => !sameSpace(chest.space, space));
  const before = fold.view.chests.find((chest) => sameSpace(chest.space, space));
  const chest = create(ChestSchema, { space, cards: [...(before?.cards ?? []), card] });
  const place = (each: Chest) => order.findIndex((known) => sameSpace(known, each.space));
  const chests = [...rest, chest].sort((a, b) => place(a) - place(b));
  const giftDeckSize = fold.view.giftDeckSize - 1;
  return {
    ...change(fold, { chests, giftDeckSize }),
    setting: { ...fold.setting, chests: order },
  };
}

// Turns

function newTurn(seat: number): Turn {
  return { seat, gift: NO_GIFT, toBuild: 0, drawn: 0, returned: 0 };
}

/** Passes the turn to the next seat that holds a buyer, if any. */
function endTurn(fold: Fold): Fold {
  const { seats, turnSeat } = fold.view;
  for (let step = 1; step <= seats.length; step++) {
    const seat = (turnSeat + step) % seats.length;
    if ((seats[seat]?.handSize ?? 0) > 0) return change(fold, { turnSeat: seat });
  }
  return fold;
}

function dispatch(fold: Fold, seat: number, event: BuyersDispatched): Fold {
  const { space, colour, count } = event;
  if (space === undefined) return fold;
  const { areas, chests } = fold.view;
  const mark = create(DispatchedSchema, { number: space.number, seat, colour });
  const before = areas.find(({ area }) => area === space.area);
  const dispatched = [...(before?.dispatched ?? []), mark];
  if (space.area !== Area.COLOURED_BUILDING) dispatched.sort((a, b) => a.number - b.number);
  const area: AreaView = create(AreaViewSchema, {
    area: space.area,
    colour: colour || (before?.colour ?? 0),
    dispatched,
  });
  const rest = areas.filter((each) => each !== before);
  const emptied = chests.filter((chest) => !sameSpace(chest.space, space));
  const laid = change(fold, {
    areas: [...rest, area].sort((a, b) => a.area - b.area),
    chests: emptied.length === chests.length ? chests : emptied,
  });
  const lighter = (own: SeatView) => ({ handSize: own.handSize - count });
  return { ...changeSeat(laid, seat, lighter), turn: newTurn(seat) };
}

function takeGift(fold: Fold, seat: number, { card, effective }: GiftTaken): Fold {
  if (!effective || card === undefined) return fold;
  switch (card.kind) {
    case GiftKind.CHOOSE_BUYER:
      return recruit(fold, seat, 1);
    case GiftKind.BUY_SECTION:
    case GiftKind.BUY_LIT_WINDOW:
      return changeTurn(fold, { gift: card.kind });
    default:
      return fold;
  }
}

function recruit(fold: Fold, seat: number, count: number): Fold {
  const buyerPileSize = fold.view.buyerPileSize - count;
  const own = changeSeat(fold, seat, ({ handSize }) => ({ handSize: handSize + count }));
  return change(own, { buyerPileSize });
}

function takeSection(fold: Fold, { section, fromPile }: SectionTaken): Fold {
  if (section === undefined) return fold;
  const bought = changeMarket(fold, section.kind, ({ display, pileSize }) =>
    fromPile ? { pileSize: pileSize - 1 } : { display: without(display, section) },
  );
  return fold.turn.gift === GiftKind.BUY_SECTION
    ? changeTurn(bought, { gift: NO_GIFT })
    : endTurn(bought);
}

function keepLitWindows(fold: Fold, seat: number, { count }: LitWindowsKept): Fold {
  const kept = changeSeat(fold, seat, (own) => ({ litWindows: own.litWindows + count }));
  const stack = fold.view.litWindowStackSize;
  if (fold.turn.gift === GiftKind.BUY_LIT_WINDOW) {
    return changeTurn(change(kept, { litWindowStackSize: stack - count }), { gift: NO_GIFT });
  }
  const returned = fold.turn.drawn - count;
  const full = change(kept, { litWindowStackSize: stack + returned });
  return endTurn(changeTurn(full, { drawn: 0, returned }));
}

// Building

type SeatChange = (own: SeatView) => Partial<SeatView>;

/** Makes a step of a build, which ends the turn if it is the last one. */
function build(fold: Fold, seat: number, sections: number, step: SeatChange): Fold {
  const toBuild = fold.turn.toBuild - sections;
  const built = changeTurn(changeSeat(fold, seat, step), { toBuild });
  return toBuild <= 0 ? endTurn(built) : built;
}

function foundTower(tower: Tower | undefined): SeatChange {
  return ({ towers }) => ({ towers: tower === undefined ? towers : [...towers, tower] });
}

function extendTower(number: number, section: Section | undefined): SeatChange {
  const gold = section?.gold === true;
  const window = section?.kind === SectionKind.WINDOW;
  return changeTower(number, (tower) => {
    if (window) {
      return gold
        ? { goldWindows: tower.goldWindows + 1 }
        : { plainWindows: tower.plainWindows + 1 };
    }
    return gold ? { goldTrunks: tower.goldTrunks + 1 } : { plainTrunks: tower.plainTrunks + 1 };
  });
}

function lightWindow(number: number, gold: boolean): SeatChange {
  const light = changeTower(number, (tower) =>
    gold
      ? { litGoldWindows: tower.litGoldWindows + 1 }
      : { litPlainWindows: tower.litPlainWindows + 1 },
  );
  return (own) => ({ ...light(own), litWindows: own.litWindows - 1 });
}

function changeTower(number: number, of: (tower: Tower) => Partial<Tower>): SeatChange {
  return ({ towers }) => ({
    towers: towers.map((tower) => (tower.number === number ? { ...tower, ...of(tower) } : tower)),
  });
}

// Changes of parts

function change(fold: Fold, parts: Partial<PublicView>): Fold {
  return { ...fold, view: { ...fold.view, ...parts } };
}

function changeTurn(fold: Fold, parts: Partial<Turn>): Fold {
  return { ...fold, turn: { ...fold.turn, ...parts } };
}

function changeSeat(fold: Fold, seat: number, of: SeatChange): Fold {
  const seats = fold.view.seats.map((own) => (own.seat === seat ? { ...own, ...of(own) } : own));
  return change(fold, { seats });
}

function changeMarket(fold: Fold, kind: SectionKind, of: (own: Market) => Partial<Market>): Fold {
  const markets = fold.view.markets.map((own) =>
    own.kind === kind ? { ...own, ...of(own) } : own,
  );
  return change(fold, { markets });
}

function addPrestige(prestige: number): SeatChange {
  return (own) => ({ prestige: own.prestige + prestige });
}

function bySection(a: Section, b: Section): number {
  return a.colour - b.colour || Number(a.gold) - Number(b.gold);
}

function without(sections: readonly Section[], section: Section): Section[] {
  const index = sections.findIndex((each) => bySection(each, section) === 0);
  return sections.filter((_, at) => at !== index);
}

function sameSpace(a: Space | undefined, b: Space | undefined): boolean {
  return a?.area === b?.area && a?.number === b?.number;
}

function withItem<T>(items: readonly T[], at: number, item: T): readonly T[] {
  return items.map((each, index) => (index === at ? item : each));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
