import { create, type DescMessage } from "@bufbuild/protobuf";
import { EventSchema, Termination } from "asara/gen/event_pb.js";
import { DecisionKind, RejectionReason } from "asara/gen/play_pb.js";
import {
  ActionSchema,
  Area,
  BuyerColour,
  Colour,
  GiftCardSchema,
  GiftKind,
  RuleSet,
  SectionKind,
} from "asara/gen/vocabulary_pb.js";
import { formatAction } from "asara/text.js";
import { afterEach, expect, test, vi } from "vitest";
import type { MatchRecord } from "../../src/match/model.js";
import { forfeitedSeat, movingSeat } from "../../src/match/places.js";
import { LANGUAGES } from "../../src/words/catalogue.js";
import {
  areaSentence,
  decisionHelp,
  giftSentence,
  ruleSetSentence,
  scoringSentences,
} from "../../src/words/explain.js";
import { language } from "../../src/words/language.js";
import {
  actionSentence,
  awardTitle,
  choiceSentence,
  decisionTitle,
  eventSentence,
  momentSentences,
  placeText,
  rejectionText,
  seatName,
  terminationText,
} from "../../src/words/sentences.js";
import { tableText } from "../../src/words/table.js";
import {
  buyerPhrase,
  giftName,
  litWindowPhrase,
  rulesName,
  sectionPhrase,
  towerPhrase,
} from "../../src/words/vocabulary.js";
import { sampleMatches } from "./matches.js";

vi.setConfig({ testTimeout: 30_000 }); // whole matches, perhaps on a busy machine

const matches = sampleMatches();

function sample(name: string): MatchRecord {
  const record = matches.get(name);
  if (record === undefined) throw new Error(`no sample ${name}`);
  return record;
}

function plain(text: string): string {
  return text.replaceAll(/[\u2068\u2069]/g, "");
}

const BROKEN = /^$|^\s|\s$|[{}[\]|<>!¡]|undefined|NaN|Object|\( |\(\)|\s{2}| [.,]/;
const seen = new Set<string>();

function expectText(text: string, where: string, whole?: RegExp): void {
  if (seen.has(text)) return; // most repeat, and an assertion takes its time
  seen.add(text);
  expect(text, where).not.toMatch(BROKEN);
  if (whole !== undefined) expect(text, where).toMatch(whole);
}

afterEach(() => {
  seen.clear();
  language.value = "en";
});

test("the sample matches contain every kind of event, action and decision but a lost move", () => {
  const events = new Set<string>();
  const actions = new Set<string>();
  const decisions = new Set<number>();
  for (const { moments } of matches.values()) {
    for (const { events: some, decision } of moments) {
      for (const { event } of some) events.add(event.case ?? "");
      for (const { action } of decision?.actions ?? []) actions.add(action.case ?? "");
      if (decision !== undefined) decisions.add(decision.kind);
    }
  }
  const members = (schema: DescMessage) => schema.oneofs.flatMap(({ fields }) => fields);
  const missing = members(EventSchema).filter(({ localName }) => !events.has(localName));
  expect(missing.map(({ localName }) => localName)).toEqual(["moveLost"]);
  expect([...actions].sort()).toEqual(
    members(ActionSchema)
      .map(({ localName }) => localName)
      .sort(),
  );
  expect(decisions.size).toBe(Object.values(DecisionKind).filter((n) => Number(n) > 0).length);
});

test.each(LANGUAGES)("every event, action and decision is a sentence in %s", (tag) => {
  language.value = tag;
  const read = new Set<string>();
  for (const [name, { setting, moments }] of matches) {
    moments.forEach((moment, index) => {
      const where = `${tag} ${name} ${index}`;
      const previous = moments[index - 1];
      const own = moment.events[0]?.seat;
      for (const you of [undefined, own]) {
        const sentences = momentSentences(moment, setting, previous, you);
        if (sentences.length !== moment.events.length) expect.fail(where);
        for (const sentence of sentences) {
          expectText(sentence, where, /\.$/);
        }
      }
      const { decision } = moment;
      if (decision === undefined) return;
      expectText(decisionTitle(decision.kind), where);
      expectText(decisionHelp(decision.kind), where);
      for (const action of decision.legalActions) {
        const form = formatAction(action);
        if (read.has(form)) continue; // most decisions offer the same actions
        read.add(form);
        expectText(actionSentence(action, { setting }), where, /^[\p{Lu}\d]/u);
      }
      if (decision.actions.length > 0)
        expectText(choiceSentence(decision.seat, decision.actions, { setting }), where);
    });
  }
});

test.each(LANGUAGES)("legal actions of a decision differ in %s", (tag) => {
  language.value = tag;
  for (const [name, { setting, moments }] of matches) {
    for (const { decision } of moments) {
      const texts = (decision?.legalActions ?? []).map((each) => actionSentence(each, { setting }));
      if (new Set(texts).size === texts.length) continue;
      expect(texts, `${tag} ${name} ${decision?.decisionId}`).toEqual([...new Set(texts)]);
    }
  }
});

test.each(LANGUAGES)("even empty events and actions of every kind have a text in %s", (tag) => {
  language.value = tag;
  const { setting } = sample("basic-2");
  for (const field of EventSchema.oneofs.flatMap(({ fields }) => fields)) {
    const event = create(EventSchema, { event: { case: field.localName, value: {} } } as never);
    expect(() => eventSentence(event, { setting }), field.localName).not.toThrow();
  }
  for (const field of ActionSchema.oneofs.flatMap(({ fields }) => fields)) {
    const action = create(ActionSchema, { action: { case: field.localName, value: {} } } as never);
    expect(() => actionSentence(action, { setting }), field.localName).not.toThrow();
  }
  expectText(
    eventSentence(create(EventSchema, { event: { case: "moveLost", value: {} } }), {
      setting,
      you: 0,
    }),
    tag,
  );
});

test.each(LANGUAGES)("terminations, rejections, awards and rules have texts in %s", (tag) => {
  language.value = tag;
  const numbers = (members: object) =>
    Object.values(members).filter((n): n is number => Number(n) > 0);
  for (const n of numbers(Termination)) expectText(terminationText(n), `${tag} ${n}`);
  for (const n of numbers(RejectionReason)) expectText(rejectionText(n), `${tag} ${n}`);
  for (const n of [...numbers(Colour), "highest", "most", "money"] as const) {
    expectText(awardTitle(n as Colour), `${tag} ${n}`);
  }
  for (const place of [1, 2] as const) {
    for (const tied of [true, false]) expectText(placeText(place, tied), tag);
  }
  const { setting } = sample("richest-4");
  for (const area of numbers(Area)) expectText(areaSentence(area, setting), `${tag} ${area}`);
  for (const text of scoringSentences(setting)) expectText(text, tag);
  for (const ruleSet of setting.ruleSets) expectText(ruleSetSentence(ruleSet), tag);
  for (const kind of numbers(GiftKind)) {
    const card = create(GiftCardSchema, {
      kind,
      asari: 4,
      prestige: 2,
      sectionKind: SectionKind.TURRET,
    });
    expectText(giftName(card), tag);
    expectText(giftSentence(card), tag);
  }
});

test.each(LANGUAGES)("the table can be read in %s", (tag) => {
  language.value = tag;
  for (const [name, { setting, moments }] of matches) {
    for (const index of [0, 40, Math.floor(moments.length / 2), moments.length - 1]) {
      const table = moments[index]?.table;
      if (table === undefined) continue;
      const parts = tableText(table, setting);
      expect(parts).toHaveLength(3 + setting.entries.length);
      for (const { heading, lines } of parts) {
        expectText(heading, `${tag} ${name}`);
        for (const line of lines) expectText(line, `${tag} ${name}`);
      }
    }
  }
});

test("phrases agree in gender and number", () => {
  const turret = { kind: SectionKind.TURRET, colour: Colour.RED, gold: true };
  const trunk = { kind: SectionKind.TRUNK, colour: Colour.WHITE, gold: true };
  const seen = Object.fromEntries(
    LANGUAGES.map((tag) => {
      language.value = tag;
      return [
        tag,
        [
          sectionPhrase(turret as never),
          sectionPhrase(trunk as never, { count: 2 }),
          towerPhrase(Colour.BLACK),
          towerPhrase(Colour.BLACK, { alone: true }),
          buyerPhrase(BuyerColour.ORANGE),
          litWindowPhrase(Colour.GREEN, { count: 3 }),
        ].join(", "),
      ];
    }),
  );
  expect(seen).toEqual({
    de: "eine rote Spitze mit Gold, 2 weiße Mittelteile mit Gold, einen schwarzen Turm, schwarzer Turm, einen orangefarbenen Einkäufer, 3 grüne leuchtende Fenster",
    en: "a red turret with gold, 2 white trunks with gold, a black tower, black tower, an orange buyer, 3 green lit windows",
    fr: "une pointe rouge ornée d’or, 2 blocs intermédiaires blancs ornés d’or, une tour noire, tour noire, un acheteur orange, 3 fenêtres éclairées vertes",
    it: "una guglia rossa con fregio d’oro, 2 pezzi centrali bianchi con fregio d’oro, una torre nera, torre nera, un compratore arancione, 3 finestre illuminate verdi",
    nl: "een rode torenspits met goud, 2 witte middenelementen met goud, een zwarte toren, zwarte toren, een oranje inkoper, 3 groene verlichte vensters",
    es: "una torreta roja con adorno dorado, 2 troncos blancos con adorno dorado, una torre negra, torre negra, un comprador naranja, 3 ventanas iluminadas verdes",
  });
});

test("the basic game is named only where it is played alone", () => {
  expect(rulesName([RuleSet.BASIC])).toBe("Basic game");
  expect(rulesName([RuleSet.BASIC, RuleSet.PROFESSIONAL, RuleSet.GENIE])).toBe(
    "Professional version, Bottle Genie",
  );
});

test("a purchase reads as the rulebook's players would say it", () => {
  const { setting } = sample("basic-2");
  const event = create(EventSchema, {
    seat: 1,
    asari: -5,
    event: {
      case: "sectionTaken",
      value: { section: { kind: SectionKind.TURRET, colour: Colour.RED, gold: true } },
    },
  });
  const entries = ["random", "greedy"];
  const context = { setting: { ...setting, entries } };
  expect(plain(eventSentence(event, context))).toBe("greedy buys a red turret with gold for 5.");
  expect(plain(eventSentence(event, { ...context, you: 1 }))).toBe(
    "You buy a red turret with gold for 5.",
  );
  language.value = "it";
  expect(plain(eventSentence(event, { ...context, you: 1 }))).toBe(
    "Compri una guglia rossa con fregio d’oro per 5 Asari.",
  );
  expect(seatName(1, { entries: ["a", "\u202eevil\u2069<b>"] })).toBe("\u2068evil<b>\u2069");
});

test("only those who may know read the colours of face-down buyers", () => {
  const { setting, moments } = sample("richest-4");
  const shown: string[] = [];
  const hidden: string[] = [];
  moments.forEach((moment, index) => {
    const previous = moments[index - 1];
    const blind = (each: typeof moment) => ({
      ...each,
      table: { ...each.table, privateViews: each.table.privateViews.map(() => undefined) },
    });
    moment.events.forEach((event, i) => {
      if (event.event.case !== "buyersDispatched" || event.event.value.colour !== 0) return;
      shown.push(momentSentences(moment, setting, previous)[i] ?? "");
      hidden.push(momentSentences(blind(moment), setting, previous && blind(previous))[i] ?? "");
    });
  });
  expect(shown.length).toBeGreaterThan(10);
  const colour = /\((\d × )?(blue|yellow|purple|green|orange)/;
  for (const sentence of hidden) expect(sentence).not.toMatch(colour);
  const known = shown.filter((sentence) => colour.test(sentence));
  expect(known.length).toBeGreaterThan(shown.length * 0.8);
});

test("the steward takes over a seat unless the forfeit ends the match", () => {
  const value = { termination: Termination.TIME_OUT };
  const event = create(EventSchema, { seat: 0, event: { case: "seatForfeited", value } });
  const { setting, moments } = sample("forfeit-3");
  const table = moments[0]?.table;
  if (table === undefined) throw new Error("no table");
  const text = (forfeits: (Termination | undefined)[]) =>
    plain(eventSentence(event, { setting, table: { ...table, forfeits } }));
  expect(text([Termination.TIME_OUT, undefined, undefined])).toMatch(/The steward takes over/);
  expect(text([Termination.TIME_OUT, Termination.CRASH, undefined])).toMatch(/The match is over/);
});

test("a move of the steward is told as the steward's", () => {
  const { setting, moments } = sample("forfeit-3");
  const forfeit = moments.findIndex(({ events }) => forfeitedSeat({ events }) !== undefined);
  const seat = moments[forfeit]?.events[0]?.seat;
  const moved = moments.slice(forfeit + 1).filter(({ events }) => movingSeat(events) === seat);
  expect(moved.length).toBeGreaterThan(3);
  for (const moment of moved) {
    expect(plain(momentSentences(moment, setting)[0] ?? "")).toMatch(/^\S+ \(steward\) /);
  }
  const first = moments.find(({ steward }) => steward === seat);
  const decision = moments.findLast((one) => one.decision?.seat === seat);
  expect(first?.index).toBe(decision?.index);
});
