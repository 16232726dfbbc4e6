/**
 * A person's side of the protocol: what has been received, and the turn collected so far.
 *
 * All functions are pure: each returns the next session, and with it the request to send, if any.
 */

import { create, equals } from "@bufbuild/protobuf";
import type { Event } from "asara/gen/event_pb.js";
import {
  type Decision,
  type MatchEnded,
  type MatchStarted,
  type PlayRequest,
  PlayRequestSchema,
  type PlayResponse,
  type Rejection,
  ReplySchema,
  type Update,
} from "asara/gen/play_pb.js";
import { PreviewEnd, type PreviewResponse } from "asara/gen/preview_pb.js";
import { ReplayDecisionSchema } from "asara/gen/replay_view_pb.js";
import type { PrivateView, View } from "asara/gen/view_pb.js";
import { type Action, ActionSchema, EditionSchema } from "asara/gen/vocabulary_pb.js";
import { MatchError } from "../match/errors.js";
import { type Fold, foldEvents, startFold } from "../match/fold.js";
import type { MatchSetting, Moment, TableState } from "../match/model.js";
import { splitSteps, stepPrivateView } from "../match/steps.js";
import { isClock } from "../words/numbers.js";
import { namesBySeat, type SeatLink } from "./link.js";

/** What is known about the rest of the turn after a step. */
export type Foresight =
  | { readonly kind: "asked" }
  | { readonly kind: "decision"; readonly decision: Decision }
  | { readonly kind: "turn"; readonly view: View | undefined }
  | { readonly kind: "hidden" }
  /** The server could not tell: the turn can be sent as it is. */
  | { readonly kind: "unknown" };

/** An action that the person has chosen and not sent. */
export interface Step {
  readonly action: Action;
  readonly next: Foresight;
}

export interface Session {
  readonly link: SeatLink;
  /** Where the match is; `waiting` for its start, `closed` when none follows. */
  readonly stage: "waiting" | "playing" | "over" | "closed";
  readonly started: MatchStarted | undefined;
  readonly setting: MatchSetting | undefined;
  /** The person's seat. */
  readonly seat: number;
  /** True if the moments begin with the match. */
  readonly complete: boolean;
  readonly fold: Fold | undefined;
  readonly moments: readonly Moment[];
  /** The open decision of the seat. */
  readonly decision: Decision | undefined;
  readonly steps: readonly Step[];
  /** Actions that were sent in answer to the open decision, or to the last one. */
  readonly sent: { readonly decisionId: bigint; readonly actions: readonly Action[] } | undefined;
  /** Why the last reply was rejected; until the next step. */
  readonly rejection: Rejection | undefined;
  readonly ended: MatchEnded | undefined;
}

/** A session, and the request that follows from it. */
export interface Result {
  readonly session: Session;
  readonly request?: PlayRequest;
}

export function newSession(link: SeatLink): Session {
  return {
    link,
    stage: "waiting",
    started: undefined,
    setting: undefined,
    seat: 0,
    complete: false,
    fold: undefined,
    moments: [],
    decision: undefined,
    steps: [],
    sent: undefined,
    rejection: undefined,
    ended: undefined,
  };
}

/** Returns the first request of a connection; a match in progress goes on where it was. */
export function helloOf(session: Session): PlayRequest {
  const { started } = session;
  const sequence = BigInt(session.moments.at(-1)?.sequence ?? 0);
  const running = session.stage === "playing" && started !== undefined;
  return create(PlayRequestSchema, {
    request: {
      case: "hello",
      value: {
        protocolVersion: 1,
        token: session.link.token,
        botName: "person",
        language: "TypeScript, page",
        maxMatches: 1,
        liveUpdates: true,
        lastEvents: running ? [{ matchId: started.matchId, sequence }] : [],
      },
    },
  });
}

/** Returns the session for another match, once the last one is over. */
export function again(session: Session): Session {
  return newSession(session.link);
}

// Messages of the referee

/** Takes a message; `nonce` returns 32 random bytes, for a joint deal. */
export function receive(
  session: Session,
  { response }: PlayResponse,
  nonce: () => Uint8Array,
): Result {
  switch (response.case) {
    case "matchStarted":
      return { session: start(session, response.value) };
    case "goodbye":
      return { session: isOver(session) ? session : { ...session, stage: "closed" } };
    case "dealCommitted": {
      const { matchId } = response.value;
      const request = { case: "nonce", value: { matchId, nonce: nonce() } } as const;
      return { session, request: create(PlayRequestSchema, { request }) };
    }
    default:
      return receiveOfMatch(session, response);
  }
}

/** True if the match has a result. */
function isOver({ stage, ended }: Session): boolean {
  return stage === "over" && ended?.void !== true;
}

function receiveOfMatch(session: Session, response: PlayResponse["response"]): Result {
  switch (response.case) {
    case "update":
    case "decision":
    case "rejection":
    case "matchEnded":
      if (response.value.matchId !== session.started?.matchId) return { session };
  }
  switch (response.case) {
    case "update":
      return { session: update(session, response.value) };
    case "decision":
      return ask(session, response.value);
    case "rejection":
      return { session: reject(session, response.value) };
    case "matchEnded":
      return { session: end(session, response.value) };
    default:
      return { session };
  }
}

/**
 * True if the page was opened in the middle of the match. What has happened before comes with a
 * connection whose Hello names no event as the last one.
 */
export function lacksHistory({ stage, complete, started }: Session): boolean {
  return stage === "playing" && !complete && Number(started?.sequence ?? 0) > 0;
}

/** Returns the session before its first event, for a connection that brings all of them. */
export function rewound(session: Session): Session {
  const { setting } = session;
  if (setting === undefined) return session;
  const fold = startFold(setting.edition, setting.ruleSets, setting.entries.length);
  const fresh = { ...session, complete: true, fold, moments: [], decision: undefined };
  return push(fresh, [], 0, undefined);
}

function start(session: Session, started: MatchStarted): Session {
  const view = started.view?.publicView;
  const own = started.view?.privateView;
  if (view === undefined || own === undefined) return session;
  const sequence = Number(started.sequence);
  if (session.started?.matchId === started.matchId) {
    const resumed = { ...session, started };
    if (sequence > lastSequence(session)) return jump(resumed, started.view, sequence);
    return started.view === undefined ? resumed : correct(resumed, started.view);
  }
  const { seat, seats, ruleSets, matchId, deal } = parts(started);
  const edition = started.edition ?? create(EditionSchema);
  const setting: MatchSetting = {
    matchId,
    entries: namesBySeat(session.link, seat, seats),
    ruleSets,
    edition,
    viewer: { kind: "seat", seat },
    sharedDeal: "",
    dealCommitment: deal,
    ...(started.clocks === undefined ? {} : { clocks: started.clocks }),
  };
  const fold = { ...startFold(edition, ruleSets, seats), view };
  const fresh: Session = { ...newSession(session.link), stage: "playing", started, setting, seat };
  return jump({ ...fresh, fold, complete: !started.resumed }, started.view, sequence);
}

function parts({ seat, seats, ruleSets, matchId, dealCommitment: deal }: MatchStarted) {
  return { seat, seats, ruleSets, matchId, deal };
}

/** Adds a moment with the table that was sent, whatever has happened since the last one. */
function jump(session: Session, view: View | undefined, sequence: number): Session {
  const { fold } = session;
  if (fold === undefined || view?.publicView === undefined) return session;
  const shown = { ...fold, view: view.publicView };
  return push({ ...session, fold: shown }, [], sequence, view.privateView);
}

function update(session: Session, { events, sequence }: Update): Session {
  const next = addEvents(session, events, sequence);
  // While the seat decides nothing happens: these are the events of the turn that it sent.
  const done = next !== session && session.sent !== undefined;
  return done ? { ...next, decision: undefined, steps: [], sent: undefined } : next;
}

function ask(session: Session, decision: Decision): Result {
  const sequence = decision.sequence;
  const next = addEvents(session, decision.events, sequence, decision.view);
  const repeated = session.decision?.decisionId === decision.decisionId;
  if (repeated && session.sent?.decisionId === decision.decisionId) {
    // The reply was lost with its connection.
    return { session: { ...next, decision }, request: replyTo(decision, session.sent.actions) };
  }
  const steps = repeated ? session.steps : [];
  return { session: { ...next, decision, steps, sent: undefined, rejection: undefined } };
}

function reject(session: Session, rejection: Rejection): Session {
  const { decision } = session;
  if (decision?.decisionId !== rejection.decisionId) return { ...session, rejection };
  const legalActions = rejection.legalActions;
  return {
    ...session,
    rejection,
    decision: legalActions.length > 0 ? { ...decision, legalActions } : decision,
    steps: [],
    sent: undefined,
  };
}

function end(session: Session, ended: MatchEnded): Session {
  const next = addEvents(session, ended.events, ended.sequence);
  return { ...next, stage: "over", ended, decision: undefined, steps: [], sent: undefined };
}

// Moments

function lastSequence({ moments }: Session): number {
  return moments.at(-1)?.sequence ?? 0;
}

/** Adds events that are not known yet; the last of them lead to `view`, if it is given. */
function addEvents(
  session: Session,
  events: readonly Event[],
  sequence: bigint,
  view?: View,
): Session {
  const fresh = Number(sequence) - lastSequence(session);
  const added = fresh <= 0 ? [] : events.slice(-fresh);
  const next = foldAll(session, added);
  return view === undefined ? next : correct(next, view);
}

function foldAll(session: Session, events: readonly Event[]): Session {
  if (events.length === 0) return session;
  let next = session;
  for (const step of splitSteps(events)) {
    const { fold, seat } = next;
    if (fold === undefined) return next;
    const before = next.moments.at(-1)?.table.privateViews[seat];
    const actions = next.sent?.actions.slice() ?? [];
    const decision = create(ReplayDecisionSchema, { seat, actions });
    const own = before && stepPrivateView(before, step, decision);
    try {
      next = { ...next, fold: foldEvents(fold, step) };
    } catch (error) {
      if (!(error instanceof MatchError)) throw error;
      // The table that comes with the next decision is right again.
    }
    next = push(next, step, lastSequence(next) + step.length, own);
  }
  return next;
}

/** Gives the last moment the table that was sent. */
function correct(session: Session, view: View): Session {
  const { fold, moments, seat } = session;
  const last = moments.at(-1);
  const publicView = view.publicView;
  if (fold === undefined || last === undefined || publicView === undefined) return session;
  const privateViews = last.table.privateViews.map((own, other) =>
    other === seat ? view.privateView : own,
  );
  const table = { ...last.table, publicView, privateViews };
  return {
    ...session,
    fold: { ...fold, view: publicView },
    moments: [...moments.slice(0, -1), { ...last, table }],
  };
}

function push(
  session: Session,
  events: readonly Event[],
  sequence: number,
  own: PrivateView | undefined,
): Session {
  const { fold, moments, seat } = session;
  if (fold === undefined) return session;
  const privateViews = fold.view.seats.map((_, other) => (other === seat ? own : undefined));
  const table = { publicView: fold.view, privateViews, forfeits: fold.forfeits };
  const moment = { index: moments.length, sequence, events, table };
  return { ...session, moments: [...moments, moment] };
}

// The turn

/** The decision that the person answers now; undefined if there is none. */
export function openDecision({ decision, steps, sent }: Session): Decision | undefined {
  if (decision === undefined || sent?.decisionId === decision.decisionId) return undefined;
  const last = steps.at(-1);
  if (last === undefined) return decision;
  return last.next.kind === "decision" ? last.next.decision : undefined;
}

/** True if what is collected can be sent: nothing more can be decided before. */
export function isReady({ decision, steps, sent }: Session): boolean {
  const last = steps.at(-1);
  if (decision === undefined || last === undefined) return false;
  if (sent?.decisionId === decision.decisionId) return false;
  return last.next.kind !== "asked" && last.next.kind !== "decision";
}

/** Takes an action of the person, unless it is not legal now. */
export function choose(session: Session, action: Action): Session {
  const open = openDecision(session);
  const legal = open?.legalActions.some((each) => equals(ActionSchema, each, action));
  if (!legal) return session;
  const step: Step = { action, next: { kind: "asked" } };
  return { ...session, steps: [...session.steps, step], rejection: undefined };
}

/** Takes the answer to the preview after the last step, undefined if there was none. */
export function foresee(
  session: Session,
  step: Step,
  response: PreviewResponse | undefined,
): Session {
  if (session.steps.at(-1) !== step) return session;
  return { ...session, steps: [...session.steps.slice(0, -1), { ...step, next: read(response) }] };
}

function read(response: PreviewResponse | undefined): Foresight {
  if (response?.next.case === "decision") {
    return { kind: "decision", decision: response.next.value };
  }
  if (response?.next.case === "end") {
    if (response.next.value === PreviewEnd.TURN) return { kind: "turn", view: response.view };
    if (response.next.value === PreviewEnd.HIDDEN) return { kind: "hidden" };
  }
  return { kind: "unknown" };
}

/** Takes back a step, by default the last one, and all after it. */
export function undo(session: Session, from = session.steps.length - 1): Session {
  if (from < 0 || from >= session.steps.length) return session;
  return { ...session, steps: session.steps.slice(0, from) };
}

/** Sends what is collected. */
export function send(session: Session): Result {
  const { decision, steps } = session;
  if (!isReady(session) || decision === undefined) return { session };
  const actions = steps.map(({ action }) => action);
  const sent = { decisionId: decision.decisionId, actions };
  return { session: { ...session, sent }, request: replyTo(decision, actions) };
}

function replyTo({ matchId, decisionId }: Decision, actions: readonly Action[]): PlayRequest {
  const reply = create(ReplySchema, { matchId, decisionId, actions: [...actions] });
  return create(PlayRequestSchema, { request: { case: "reply", value: reply } });
}

// The table

/** The table as it would be after the steps, with what the last one would change. */
export function tentative(session: Session): Moment | undefined {
  const { moments, steps, seat } = session;
  const last = moments.at(-1);
  if (last === undefined) return undefined;
  let moment = last;
  let told = 0;
  for (const { next } of steps) {
    const view = next.kind === "decision" ? next.decision.view : viewOf(next);
    const all = next.kind === "decision" ? next.decision.events : [];
    const events = all.slice(told);
    told = Math.max(told, all.length);
    moment = {
      index: moment.index + 1,
      sequence: last.sequence,
      events,
      table: view === undefined ? moment.table : withView(moment.table, view, seat),
    };
  }
  return moment;
}

function viewOf(next: Foresight): View | undefined {
  return next.kind === "turn" ? next.view : undefined;
}

function withView(table: TableState, view: View, seat: number): TableState {
  const privateViews = table.privateViews.map((own, other) =>
    other === seat ? view.privateView : own,
  );
  return { ...table, privateViews, publicView: view.publicView ?? table.publicView };
}

/** True if the moment at this index came from the person's own turn. */
export function isOwn({ moments, seat }: Session, index: number): boolean {
  const events = moments[index]?.events ?? [];
  return events.length > 0 && events.every((event) => event.seat === seat);
}

/** False if nobody's time can run out. */
export function hasClock({ started }: Session): boolean {
  return started?.clocks !== undefined && isClock(Number(started.clocks.bankUs));
}
