/** What happens in a match, and what can be done, as sentences in the current language. */

import type { Event, Termination } from "asara/gen/event_pb.js";
import type { DecisionKind, RejectionReason } from "asara/gen/play_pb.js";
import {
  type Action,
  Area,
  type Award,
  type BuyerColour,
  type Colour,
  type FoundTower,
  type GiftCard,
  type Space,
  type Tower,
} from "asara/gen/vocabulary_pb.js";
import type { MatchSetting, Moment, TableState } from "../match/model.js";
import { fill, isolate, language, t } from "./language.js";
import { list, number } from "./numbers.js";
import { common } from "./sections/common.js";
import {
  asariText,
  buyerColoursPhrase,
  buyerPhrase,
  capitalised,
  giftName,
  kindsName,
  litWindowColoursPhrase,
  litWindowPhrase,
  litWindowsPhrase,
  pointsText,
  priceOf,
  sectionPhrase,
  sectionsPhrase,
  spaceName,
  texts,
  toSpace,
  towerColourName,
  towerPhrase,
  words,
} from "./vocabulary.js";

/** What a sentence may need beside its event. */
export interface SentenceContext {
  readonly setting: MatchSetting;
  /** The reader's seat, which is then "you"; absent for other viewers. */
  readonly you?: number | undefined;
  /** The table after the event; with it, sentences name hidden things that the viewer may see. */
  readonly table?: TableState | undefined;
  /** The table before the moment of the event. */
  readonly previous?: TableState | undefined;
  /** The seat for which the steward moves. */
  readonly steward?: number | undefined;
}

/** Returns the name of a seat's entry, safe inside a sentence. */
export function seatName(seat: number, setting: Pick<MatchSetting, "entries">): string {
  return isolate(setting.entries[seat] ?? t(common, "seat", { seat }));
}

type TextKey = keyof (typeof texts)["en"];
type Values = Readonly<Record<string, string | number>>;

/** Returns a sentence about a seat, in the second person if the seat is the reader's. */
function say(key: TextKey, seat: number, context: SentenceContext, values: Values): string {
  const name = seatName(seat, context.setting);
  const steward = seat === context.steward;
  const you = seat === context.you && !steward;
  const who = you ? words().pronoun : steward ? t(texts, "steward", { name }) : name;
  const text = fill(words().texts[key], { ...values, who }, you).trim();
  return you ? capitalised(text) : text;
}

function price(asari: number): string {
  return t(texts, "price", { n: Math.abs(asari) });
}

function plus(prestige: number): string {
  return prestige === 0 ? "" : t(texts, "plus", { n: prestige });
}

function bracketed(text: string): string {
  return text === "" ? "" : ` (${text})`;
}

/** Returns an event as one sentence in the present tense; empty if it has no kind. */
export function eventSentence(event: Event, context: SentenceContext): string {
  const { seat } = event;
  const asari = asariText(Math.abs(event.asari));
  const tell = (key: TextKey, values: Values = {}) => say(key, seat, context, values);
  const kind = event.event;
  switch (kind.case) {
    case "yearStarted":
      return tell("yearStarted", { year: kind.value.year, count: kind.value.handSize });
    case "incomeReceived":
      return tell("incomeReceived", { asari });
    case "displayFilled":
      return tell("displayFilled", { sections: sectionsPhrase(kind.value.sections) });
    case "giftLaid":
      return tell("giftLaid", giftValues(kind.value.space, kind.value.card));
    case "buyersDispatched":
      return dispatchSentence(event, context);
    case "giftTaken":
      return tell(
        kind.value.effective ? "giftTaken" : "giftVoid",
        giftValues(undefined, kind.value.card),
      );
    case "sectionTaken":
      return tell(kind.value.fromPile ? "pileSectionTaken" : "sectionTaken", {
        section: kind.value.section === undefined ? "" : sectionPhrase(kind.value.section),
        price: price(event.asari),
      });
    case "moveDeclined":
    case "moveLost":
    case "patronageTaken":
      return tell(kind.case);
    case "fundsTaken":
      return tell(kind.value.space?.area === Area.BANK ? "bank" : "colouredBuilding", { asari });
    case "pileSearched":
      return tell("pileSearched", { asari, kinds: kindsName(kind.value.kind) });
    case "buyersRecruited":
    case "litWindowsDrawn":
      return tell(kind.case, { asari, count: kind.value.count, detail: secret(event, context) });
    case "litWindowsKept":
      return tell(event.asari === 0 ? "litWindowsKept" : "litWindowBought", {
        count: kind.value.count,
        price: price(event.asari),
        detail: secret(event, context),
      });
    case "geniePaid":
      return tell("geniePaid", { asari });
    case "wishMade":
      return tell("wishMade", { space: nameOf(kind.value.space) });
    default:
      return buildSentence(event, context);
  }
}

function buildSentence(event: Event, context: SentenceContext): string {
  const tell = (key: TextKey, values: Values = {}) => say(key, event.seat, context, values);
  const prestige = plus(event.prestige);
  const kind = event.event;
  switch (kind.case) {
    case "buildStarted":
      return tell("buildStarted", {
        asari: asariText(Math.abs(event.asari)),
        count: kind.value.count,
      });
    case "towerFounded": {
      const tower = kind.value.tower;
      if (tower === undefined) return "";
      const { baseGold, turretGold, colour } = tower;
      return tell("towerFounded", {
        tower: towerPhrase(colour),
        gold: foundedGold(baseGold, turretGold),
        plus: prestige,
      });
    }
    case "towerExtended":
      return tell("towerExtended", {
        section: kind.value.section === undefined ? "" : sectionPhrase(kind.value.section),
        tower: kind.value.tower,
        plus: prestige,
      });
    case "windowLit":
      return tell(kind.value.gold ? "goldWindowLit" : "windowLit", {
        tower: kind.value.tower,
        plus: prestige,
      });
    case "yearEvaluated":
    case "finalEvaluated": {
      const parts = evaluationParts(event);
      if (parts.length === 0) return tell("nothingEvaluated");
      return tell(kind.case, { points: pointsText(event.prestige), parts: list(parts) });
    }
    case "seatForfeited":
      return tell(isLastForfeit(context) ? "lastForfeited" : "seatForfeited", {
        reason: terminationText(kind.value.termination),
      });
    default:
      return "";
  }
}

/** True if a forfeit leaves fewer than two seats, which ends the match. */
function isLastForfeit({ table, setting }: SentenceContext): boolean {
  const playing = table?.forfeits.filter((forfeit) => forfeit === undefined).length;
  return (playing ?? setting.entries.length - 1) < 2;
}

function giftValues(space: Space | undefined, card: GiftCard | undefined): Values {
  return { space: nameOf(space), card: card === undefined ? "" : giftName(card) };
}

function nameOf(space: Space | undefined): string {
  return space === undefined ? "" : spaceName(space);
}

function foundedGold(base: boolean, turret: boolean): string {
  if (base && turret) return t(texts, "goldBoth");
  if (base) return t(texts, "goldBase");
  return turret ? t(texts, "goldTurret") : "";
}

function dispatchSentence(event: Event, context: SentenceContext): string {
  if (event.event.case !== "buyersDispatched") return "";
  const { space, colour, count } = event.event.value;
  if (space === undefined) return "";
  const to = toSpace(space);
  if (colour !== 0) {
    return say("buyerDispatched", event.seat, context, { buyer: buyerPhrase(colour), to });
  }
  return say("buyersDispatched", event.seat, context, {
    count,
    to,
    detail: secret(event, context),
  });
}

/** Returns the hidden things of an event in brackets, if the viewer sees them; empty otherwise. */
function secret(event: Event, { table, previous }: SentenceContext): string {
  const after = table?.privateViews[event.seat];
  const before = previous?.privateViews[event.seat];
  if (after === undefined) return "";
  const kind = event.event;
  switch (kind.case) {
    case "buyersDispatched": {
      const { space, count } = kind.value;
      const laid = after.faceDown.findLast(
        (pile) => pile.space?.area === space?.area && pile.space?.number === space?.number,
      );
      return laid?.buyers.length === count ? bracketed(buyerColoursPhrase(laid.buyers)) : "";
    }
    case "buyersRecruited": {
      const drawn = before === undefined ? [] : without(after.hand, before.hand);
      return drawn.length === kind.value.count ? bracketed(buyerColoursPhrase(drawn)) : "";
    }
    case "litWindowsDrawn": {
      const drawn = after.searchedLitWindows;
      return drawn.length === kind.value.count ? bracketed(litWindowColoursPhrase(drawn)) : "";
    }
    case "litWindowsKept": {
      const kept = before === undefined ? [] : without(after.litWindows, before.litWindows);
      return kept.length === kind.value.count ? bracketed(litWindowColoursPhrase(kept)) : "";
    }
    default:
      return "";
  }
}

function without<T extends BuyerColour | Colour>(all: readonly T[], some: readonly T[]): T[] {
  const rest = [...all];
  for (const one of some) {
    const index = rest.indexOf(one);
    if (index >= 0) rest.splice(index, 1);
  }
  return rest;
}

/** Returns the sources of an evaluation's prestige, such as `3 for towers`; none if there are none. */
function evaluationParts({ event }: Event): string[] {
  const parts: string[] = [];
  const add = (n: number, key: TextKey, values: Values = {}) => {
    if (n > 0) parts.push(fill(words().texts[key], { n, ...values }));
  };
  if (event.case === "yearEvaluated") {
    add(event.value.towers, "partTowers");
    add(event.value.gold, "partGold");
    add(event.value.litWindows, "partLit");
    add(event.value.patronage, "partPatronage");
  } else if (event.case === "finalEvaluated") {
    for (const { colour, prestige } of event.value.colours) {
      add(prestige, "partColour", { towers: towerPhrase(colour, { count: 0 }) });
    }
    add(event.value.highestTower, "partHighest");
    add(event.value.mostTowers, "partMost");
    add(event.value.asari, "partMoney");
  }
  return parts;
}

/** Returns the sentences of a moment; without events, none. */
export function momentSentences(
  moment: Moment,
  setting: MatchSetting,
  previous?: Moment,
  you?: number,
): string[] {
  const { table, steward } = moment;
  const context = { setting, you, table, steward, previous: previous?.table };
  return moment.events.map((event) => eventSentence(event, context)).filter((text) => text !== "");
}

// Actions and decisions

/** What the text of an action may need beside it. */
export type ActionContext = Pick<SentenceContext, "setting">;

/** Returns an action as a choice or step, such as `Buy a red turret for 5`, without a full stop. */
export function actionSentence({ action }: Action, { setting }: ActionContext): string {
  return capitalised(actionText(action, setting));
}

function actionText(action: Action["action"], { edition }: MatchSetting): string {
  switch (action.case) {
    case "chooseSpace":
      return t(texts, "chooseSpace", {
        to: action.value.space === undefined ? "" : toSpace(action.value.space),
      });
    case "layBuyers": {
      const { buyers, faceDown } = action.value;
      const [first = 0] = buyers;
      if (faceDown) return t(texts, "layFaceDown", { colours: buyerColoursPhrase(buyers) });
      return t(texts, "layBuyer", { buyer: buyerPhrase(first) });
    }
    case "takeSection": {
      const { section } = action.value;
      if (section === undefined) return "";
      return t(texts, "takeSection", {
        section: sectionPhrase(section),
        price: price(priceOf(edition, section.colour)),
      });
    }
    case "decline":
      return t(texts, "decline");
    case "searchPile":
      return t(texts, "searchPile", { kinds: kindsName(action.value.kind) });
    case "payOffer": {
      const { asari } = action.value;
      const offer = edition.litWindowOffers.find((each) => each.asari === asari);
      if (offer === undefined) return t(texts, "payOnly", { price: price(asari) });
      const { kept, drawn } = offer;
      return t(texts, "payOffer", { price: price(asari), kept, drawn });
    }
    case "wish":
      return t(texts, "wish", { space: nameOf(action.value.space) });
    case "chooseBuyer":
      return t(texts, "chooseBuyer", { buyer: buyerPhrase(action.value.buyer) });
    default:
      return buildActionText(action);
  }
}

function buildActionText(action: Action["action"]): string {
  switch (action.case) {
    case "buildCount":
      return t(texts, "buildCount", { count: action.value.count });
    case "foundTower":
      return foundText(action.value);
    case "extendTower": {
      const { section, tower } = action.value;
      return t(texts, "extendTower", {
        section: section === undefined ? "" : sectionPhrase(section),
        tower,
      });
    }
    case "lightWindow":
      return t(texts, action.value.gold ? "lightGoldWindow" : "lightWindow", {
        tower: action.value.tower,
      });
    case "keepLitWindows":
      return t(texts, "keepLitWindows", { windows: litWindowsPhrase(action.value.colours) });
    case "returnLitWindow":
      return t(texts, "returnLitWindow", {
        window: litWindowPhrase(action.value.colour, { alone: true }),
      });
    default:
      return t(texts, "noAction");
  }
}

function foundText({ colour, baseGold, turretGold }: FoundTower): string {
  return t(texts, "foundTower", {
    tower: towerPhrase(colour),
    gold: foundedGold(baseGold, turretGold),
  });
}

/** Returns what a seat has chosen as one sentence; empty without actions. */
export function choiceSentence(
  seat: number,
  actions: readonly Action[],
  { setting, you }: Pick<SentenceContext, "setting" | "you">,
): string {
  if (actions.length === 0) return "";
  return say("chooses", seat, { setting, you }, { doing: actionsPhrase(actions, { setting }) });
}

/** Returns actions for use inside a sentence. */
export function actionsPhrase(actions: readonly Action[], { setting }: ActionContext): string {
  const phrases = actions.map(({ action }) => {
    const text = actionText(action, setting);
    // A German action may begin with a noun.
    return language.value === "de" ? text : text.charAt(0).toLowerCase() + text.slice(1);
  });
  return phrases.join(t(texts, "between"));
}

/** Returns a decision's title. */
export function decisionTitle(kind: DecisionKind): string {
  return fill(words().decisions[kind - 1] ?? "");
}

/** Returns the reason why a seat ended, as a clause such as `out of time`. */
export function terminationText(termination: Termination): string {
  return words().terminations[termination - 1] ?? "";
}

/** Returns the reason of a rejection, as a clause. */
export function rejectionText(reason: RejectionReason): string {
  return words().rejections[reason - 1] ?? "";
}

// Final scoring

/** Award of the final scoring: a colour's highest towers, all towers, their number, or money. */
export type AwardKind = Colour | "highest" | "most" | "money";

/** Returns the title of an award, such as `Highest red tower`. */
export function awardTitle(award: AwardKind): string {
  if (typeof award === "string") return t(texts, award);
  return capitalised(t(texts, "highestOf", { colour: towerColourName(award) }));
}

/** Returns the points of an award's places, such as `8 / 4`. */
export function awardPoints(award: Award): string {
  return `${number(award.first)} / ${number(award.second)}`;
}

/** Returns a place of an award. */
export function placeText(place: 1 | 2, tied: boolean): string {
  if (place === 1) return t(texts, tied ? "tiedFirst" : "firstPlace");
  return t(texts, tied ? "tiedSecond" : "secondPlace");
}

/** Returns the number of sections in a tower; lit windows add none. */
export function towerHeight(tower: Tower): number {
  return 2 + tower.plainTrunks + tower.goldTrunks + tower.plainWindows + tower.goldWindows;
}
