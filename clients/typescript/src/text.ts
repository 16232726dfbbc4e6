/** The short text form of an action, which replays and the referee's logs also use. */

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type Action,
  ActionSchema,
  Area,
  BuyerColour,
  Colour,
  type Section,
  SectionKind,
  SectionSchema,
  type Space,
  SpaceSchema,
} from "./gen/vocabulary_pb.js";

const LONGEST_NUMBER = 4; // digits

const AREA_WORDS: ReadonlyMap<number, string> = new Map([
  [Area.BASE_MARKET, "base-market"],
  [Area.TRUNK_MARKET, "trunk-market"],
  [Area.WINDOW_MARKET, "window-market"],
  [Area.TURRET_MARKET, "turret-market"],
  [Area.BUILDING_CIRCLE, "circle"],
  [Area.BANK, "bank"],
  [Area.COLOURED_BUILDING, "coloured-building"],
  [Area.HOUSE_OF_SPIES, "spies"],
  [Area.CALIPHS_PATRONAGE, "patronage"],
  [Area.TENT, "tent"],
  [Area.HOUSE_OF_LIGHTED_WINDOWS, "lit-windows"],
  [Area.HOUSE_OF_THE_BOTTLE_GENIE, "genie"],
]);
const COLOUR_WORDS = wordsOf(Colour);
const BUYER_WORDS = wordsOf(BuyerColour);
const KIND_WORDS = wordsOf(SectionKind);

const AREAS = valuesOf<Area>(AREA_WORDS);
const COLOURS = valuesOf<Colour>(COLOUR_WORDS);
const BUYERS = valuesOf<BuyerColour>(BUYER_WORDS);
const KINDS = valuesOf<SectionKind>(KIND_WORDS);

function wordsOf(members: Record<string, string | number>): ReadonlyMap<number, string> {
  const words = new Map<number, string>();
  for (const [name, number] of Object.entries(members)) {
    if (typeof number === "number") words.set(number, name.toLowerCase());
  }
  return words;
}

function valuesOf<E extends number>(words: ReadonlyMap<number, string>): ReadonlyMap<string, E> {
  const values = new Map<string, E>();
  for (const [number, word] of words) {
    if (number !== 0) values.set(word, number as E);
  }
  return values;
}

/**
 * Returns the text of an action, such as `dispatch bank 12` or `take red trunk gold`.
 *
 * An action with no member set reads `no action`; enum values unknown to this version read as
 * numbers. Never throws, so that it is safe in a log line.
 */
export function formatAction({ action }: Action): string {
  switch (action.case) {
    case "chooseSpace":
      return `dispatch ${spaceText(action.value.space)}`;
    case "layBuyers": {
      const buyers = action.value.buyers.map((buyer) => wordOf(BUYER_WORDS, buyer));
      return ["lay", ...buyers].join(" ") + flag(action.value.faceDown, "face-down");
    }
    case "takeSection":
      return `take ${sectionText(action.value.section)}`;
    case "decline":
      return "decline";
    case "buildCount":
      return `build ${action.value.count}`;
    case "foundTower": {
      const { colour, baseGold, turretGold } = action.value;
      const gold = flag(baseGold, "gold-base") + flag(turretGold, "gold-turret");
      return `found ${wordOf(COLOUR_WORDS, colour)}${gold}`;
    }
    case "extendTower":
      return `extend ${action.value.tower} ${sectionText(action.value.section)}`;
    case "lightWindow":
      return `light ${action.value.tower}${flag(action.value.gold, "gold")}`;
    case "searchPile":
      return `search ${wordOf(KIND_WORDS, action.value.kind)}`;
    case "payOffer":
      return `pay ${action.value.asari}`;
    case "keepLitWindows": {
      const colours = action.value.colours.map((colour) => wordOf(COLOUR_WORDS, colour));
      return ["keep", ...colours].join(" ");
    }
    case "wish":
      return `wish ${spaceText(action.value.space)}`;
    case "chooseBuyer":
      return `choose ${wordOf(BUYER_WORDS, action.value.buyer)}`;
    case "returnLitWindow":
      return `return ${wordOf(COLOUR_WORDS, action.value.colour)}`;
    default:
      return "no action";
  }
}

function wordOf(words: ReadonlyMap<number, string>, value: number): string {
  return words.get(value) ?? String(value);
}

function spaceText(space: Space = create(SpaceSchema)): string {
  return `${wordOf(AREA_WORDS, space.area)} ${space.number}`;
}

function sectionText(section: Section = create(SectionSchema)): string {
  const { colour, kind, gold } = section;
  return `${wordOf(COLOUR_WORDS, colour)} ${wordOf(KIND_WORDS, kind)}${flag(gold, "gold")}`;
}

function flag(value: boolean, word: string): string {
  return value ? ` ${word}` : "";
}

/**
 * Returns the action of a text form, the inverse of `formatAction`.
 *
 * @throws {SyntaxError} for any other text; the message names the wrong word.
 */
export function parseAction(text: string): Action {
  const words = text.split(/\s+/).filter((word) => word !== "");
  const canonical = words.join(" ");
  const verb = words.shift() ?? "";
  const parse = PARSERS.get(verb);
  if (parse === undefined) {
    const verbs = [...PARSERS.keys()].join(", ");
    throw new SyntaxError(`action '${text}': no verb '${verb}'; one of ${verbs}`);
  }
  let action: Action;
  try {
    action = create(ActionSchema, { action: parse(words) });
  } catch (error) {
    throw new SyntaxError(`action '${text}': ${(error as Error).message}`);
  }
  if (words.length > 0) throw new SyntaxError(`action '${text}': unexpected '${words[0]}'`);
  const formatted = formatAction(action);
  if (formatted !== canonical) {
    throw new SyntaxError(`action '${text}': not in canonical form; write '${formatted}'`);
  }
  return action;
}

// Parsers remove the words that they read from the front of the list.

type ActionInit = NonNullable<MessageInitShape<typeof ActionSchema>["action"]>;

const PARSERS = new Map<string, (words: string[]) => ActionInit>([
  ["dispatch", (words) => ({ case: "chooseSpace", value: { space: takeSpace(words) } })],
  ["lay", takeBuyers],
  ["take", (words) => ({ case: "takeSection", value: { section: takeSection(words) } })],
  ["decline", () => ({ case: "decline", value: {} })],
  ["build", (words) => ({ case: "buildCount", value: { count: takeNumber(words) } })],
  ["found", takeTower],
  ["extend", takeExtension],
  ["light", takeWindow],
  ["search", (words) => ({ case: "searchPile", value: { kind: takeKind(words) } })],
  ["pay", (words) => ({ case: "payOffer", value: { asari: takeNumber(words) } })],
  ["keep", takeWindows],
  ["wish", (words) => ({ case: "wish", value: { space: takeSpace(words) } })],
  ["choose", (words) => ({ case: "chooseBuyer", value: { buyer: takeBuyer(words) } })],
  ["return", (words) => ({ case: "returnLitWindow", value: { colour: takeColour(words) } })],
]);

function takeWord<E>(values: ReadonlyMap<string, E>, what: string, words: string[]): E {
  const word = words.shift();
  const value = word === undefined ? undefined : values.get(word);
  if (value !== undefined) return value;
  const names = [...values.keys()].join(", ");
  throw new SyntaxError(
    word === undefined ? `a ${what} is missing` : `no ${what} '${word}'; one of ${names}`,
  );
}

function takeNumber(words: string[], what = "a number"): number {
  const word = words.shift();
  if (word === undefined) throw new SyntaxError(`${what} is missing`);
  if (!/^[0-9]+$/.test(word) || word.length > LONGEST_NUMBER) {
    throw new SyntaxError(`'${word}' is not ${what}`);
  }
  return Number(word);
}

function takeFlag(word: string, words: string[]): boolean {
  if (words[0] !== word) return false;
  words.shift();
  return true;
}

function takeColour(words: string[]): Colour {
  return takeWord(COLOURS, "colour", words);
}

function takeKind(words: string[]): SectionKind {
  return takeWord(KINDS, "section kind", words);
}

function takeBuyer(words: string[]): BuyerColour {
  return takeWord(BUYERS, "buyer", words);
}

function takeSpace(words: string[]): Space {
  const area = takeWord(AREAS, "area", words);
  return create(SpaceSchema, { area, number: takeNumber(words, "the number of a space") });
}

function takeSection(words: string[]): Section {
  const colour = takeColour(words);
  const kind = takeKind(words);
  return create(SectionSchema, { colour, kind, gold: takeFlag("gold", words) });
}

function takeBuyers(words: string[]): ActionInit {
  const buyers: BuyerColour[] = [];
  while (words.length > 0 && words[0] !== "face-down") buyers.push(takeBuyer(words));
  const faceDown = takeFlag("face-down", words);
  if (buyers.length < 1 || buyers.length > (faceDown ? 2 : 1)) {
    throw new SyntaxError("lay one buyer, or two face-down");
  }
  return { case: "layBuyers", value: { buyers: buyers.sort((a, b) => a - b), faceDown } };
}

function takeTower(words: string[]): ActionInit {
  const colour = takeColour(words);
  const baseGold = takeFlag("gold-base", words);
  return {
    case: "foundTower",
    value: { colour, baseGold, turretGold: takeFlag("gold-turret", words) },
  };
}

function takeExtension(words: string[]): ActionInit {
  const tower = takeNumber(words);
  return { case: "extendTower", value: { tower, section: takeSection(words) } };
}

function takeWindow(words: string[]): ActionInit {
  const tower = takeNumber(words);
  return { case: "lightWindow", value: { tower, gold: takeFlag("gold", words) } };
}

function takeWindows(words: string[]): ActionInit {
  const colours = [takeColour(words)];
  while (words.length > 0) colours.push(takeColour(words));
  return { case: "keepLitWindows", value: { colours: colours.sort((a, b) => a - b) } };
}
