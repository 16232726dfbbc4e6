/** The steps that the records of a match consist of, and what a seat knows between them. */

import { create } from "@bufbuild/protobuf";
import type { BuyersDispatched, Event } from "asara/gen/event_pb.js";
import type { ReplayDecision } from "asara/gen/replay_view_pb.js";
import { FaceDownSchema, type PrivateView } from "asara/gen/view_pb.js";
import { type BuyerColour, SectionKind } from "asara/gen/vocabulary_pb.js";

/** Events that begin a step, whatever precedes them. */
const BEGIN: ReadonlySet<string> = new Set([
  "yearStarted",
  "buyersDispatched",
  "sectionTaken",
  "moveDeclined",
  "pileSearched",
  "litWindowsDrawn",
  "litWindowsKept",
  "wishMade",
  "buildStarted",
  "towerFounded",
  "towerExtended",
  "windowLit",
  "seatForfeited",
]);
/** Events of all seats that make one step together. */
const TOGETHER: ReadonlySet<string> = new Set(["yearEvaluated", "finalEvaluated"]);

/** Splits the events of a record, or of a turn, into steps; there is at least one step. */
export function splitSteps(events: readonly Event[]): readonly (readonly Event[])[] {
  const steps: Event[][] = [[]];
  let before = "";
  for (const event of events) {
    const kind = event.event.case ?? "";
    const begins = BEGIN.has(kind) || (TOGETHER.has(kind) && kind !== before);
    if (begins && before !== "") steps.push([]);
    steps.at(-1)?.push(event);
    before = kind;
  }
  return steps;
}

/**
 * Returns what a seat knows after a step within a record, for which the referee sends no view: the
 * view before, changed by the events and by the seat's own decision. Buyers dealt or recruited are
 * not known before the record's end.
 */
export function stepPrivateView(
  view: PrivateView,
  events: readonly Event[],
  decision: ReplayDecision | undefined,
): PrivateView {
  let own = { ...view, searchedSections: [], searchedBuyers: [], searchedLitWindows: [] };
  for (const { seat, asari, event } of events) {
    if (event.case === "yearStarted") own = { ...own, hand: [], faceDown: [] };
    if (seat !== view.seat) continue;
    own = { ...own, asari: own.asari + asari };
    switch (event.case) {
      case "buyersDispatched":
        own = { ...own, ...laid(own, event.value, decision) };
        break;
      case "sectionTaken":
        if (event.value.section === undefined) break;
        own = { ...own, sections: [...own.sections, event.value.section].sort(bySection) };
        break;
      case "towerFounded": {
        const { colour = 0, baseGold = false, turretGold = false } = event.value.tower ?? {};
        const base = without(own.sections, { kind: SectionKind.BASE, colour, gold: baseGold });
        const turret = { kind: SectionKind.TURRET, colour, gold: turretGold };
        own = { ...own, sections: without(base, turret) };
        break;
      }
      case "towerExtended":
        if (event.value.section === undefined) break;
        own = { ...own, sections: without(own.sections, event.value.section) };
        break;
    }
  }
  return own;
}

type Laid = Pick<PrivateView, "hand" | "faceDown">;

/** Lays buyers from the hand: those of the decision, or the only ones that it can have been. */
function laid(own: PrivateView, event: BuyersDispatched, decision?: ReplayDecision): Laid {
  const { space, colour, count } = event;
  const chosen = decision?.seat === own.seat ? laidBuyers(decision) : [];
  const buyers = colour ? [colour] : chosen.length === count ? chosen : own.hand.slice(0, count);
  const hand = [...own.hand];
  for (const buyer of buyers) {
    const at = hand.indexOf(buyer);
    if (at >= 0) hand.splice(at, 1);
  }
  if (colour || space === undefined) return { hand, faceDown: own.faceDown };
  const faceDown = create(FaceDownSchema, { space, buyers: [...buyers] });
  return { hand, faceDown: [...own.faceDown, faceDown] };
}

function laidBuyers({ actions }: ReplayDecision): readonly BuyerColour[] {
  const lay = actions.find(({ action }) => action.case === "layBuyers")?.action;
  return lay?.case === "layBuyers" ? lay.value.buyers : [];
}

type Piece = { kind: number; colour: number; gold: boolean };

function bySection(a: Piece, b: Piece): number {
  return a.kind - b.kind || a.colour - b.colour || Number(a.gold) - Number(b.gold);
}

function without<T extends Piece>(sections: readonly T[], section: Piece): T[] {
  const at = sections.findIndex((each) => bySection(each, section) === 0);
  return sections.filter((_, index) => index !== at);
}
