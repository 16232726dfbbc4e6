/** Sentences about a match: stand-in until the words arrive. */

import type { Event, Termination } from "asara/gen/event_pb.js";
import type { DecisionKind } from "asara/gen/play_pb.js";
import type { ReplayDecision } from "asara/gen/replay_view_pb.js";
import type { Action, Colour, RuleSet } from "asara/gen/vocabulary_pb.js";
import { formatAction } from "asara/text.js";
import type { MatchRecord, Moment } from "../match/model.js";

export function eventText(event: Event, record: MatchRecord): string {
  return `${record.setting.entries[event.seat]}: ${event.event.case}`;
}
export function actionText(action: Action, _d: ReplayDecision, _r: MatchRecord): string {
  return formatAction(action);
}
export function decisionText(kind: DecisionKind): string {
  return `decision ${kind}`;
}
export function colourText(colour: Colour): string {
  return `colour ${colour}`;
}
export function tableLines(moment: Moment, _record: MatchRecord): readonly string[] {
  return [`Year ${moment.table.publicView.year}`];
}
export function ruleSetsText(ruleSets: readonly RuleSet[]): string {
  return ruleSets.join("+");
}
export function terminationText(termination: Termination): string {
  return `termination ${termination}`;
}
