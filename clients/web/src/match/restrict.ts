/**
 * What one viewer may see of an open match, for files that hold the open one.
 *
 * The server does the same for matches that it sends, in `asara_server/replay/replay_view.py`. The
 * results are equal except after a break of a bot's connection, of which open views say nothing: the
 * server leaves out what the bot was not sent, and this function shows it.
 */

import { create } from "@bufbuild/protobuf";
import type { Event } from "asara/gen/event_pb.js";
import { DecisionKind, RejectionReason } from "asara/gen/play_pb.js";
import {
  type ReplayDecision,
  type ReplayMoment,
  ReplayMomentSchema,
  type ReplayView,
  ViewerKind,
} from "asara/gen/replay_view_pb.js";
import type { PrivateView } from "asara/gen/view_pb.js";
import type { Viewer } from "./model.js";

/** Events of a seat by which it may come to know something that the event does not contain. */
const REVEALING: ReadonlySet<string | undefined> = new Set([
  "giftTaken",
  "buyersRecruited",
  "litWindowsDrawn",
]);

/** Returns the part of an open view that the viewer may see. */
export function restrictView(open: ReplayView, viewer: Viewer): ReplayView {
  switch (viewer.kind) {
    case "open":
      return open;
    case "everybody": {
      const moments = new Restriction(open, undefined).moments;
      return { ...open, viewer: ViewerKind.EVERYBODY, viewerSeat: 0, moments };
    }
    case "seat": {
      const { seat } = viewer;
      const moments = new Restriction(open, seat).moments;
      return { ...open, viewer: ViewerKind.SEAT, viewerSeat: seat, moments };
    }
  }
}

/** The moments of one viewer, made from the open ones, one by one. */
class Restriction {
  readonly moments: ReplayMoment[] = [];
  readonly #seat: number | undefined;
  /** Events that the viewer has not been shown yet. */
  #pending: Event[] = [];
  #sequence = 0n;
  /** A moment with an own reply whose events have not been shown yet. */
  #answered: ReplayMoment | undefined;
  /** The seat's view now. */
  #now: PrivateView | undefined;
  /** The seat's views, each with the moment after which it holds. */
  readonly #views: { readonly moment: number; readonly view: PrivateView }[] = [];
  /** Number of those that the seat was sent, or that follow from these. */
  #certain = 0;
  /** True while the next view follows from the last one sent and the events since. */
  #follows = false;
  #forfeited = false;

  constructor(open: ReplayView, seat: number | undefined) {
    this.#seat = seat;
    for (const [index, moment] of open.moments.entries()) {
      this.#now = moment.privateViews.find((own) => own.seat === seat) ?? this.#now;
      this.#add(moment, open.moments.slice(index + 1, index + 1 + LOOK_AHEAD));
      if (index === 0 && !isAbsent(open, seat)) this.#sent();
    }
    this.#addPrivateViews();
  }

  #add(moment: ReplayMoment, next: readonly ReplayMoment[]): void {
    const { decision, events } = moment;
    if (decision !== undefined && decision.seat === this.#seat) {
      this.#flush();
      this.#answered = create(ReplayMomentSchema, { sequence: this.#sequence, decision });
      if (isUnanswered(decision)) this.#forfeited = true;
    }
    this.#pending.push(...events);
    const asked = asksNext(next) === this.#seat && this.#seat !== undefined && !this.#forfeited;
    const atRest = endsTurn(next);
    const over = next.length === 0;
    if (this.#pending.length > 0 && (asked || atRest || over)) this.#show(atRest);
    if (asked || over || (this.#answered?.decision && isRejected(this.#answered.decision))) {
      this.#flush();
    }
    if (asked) this.#sent();
  }

  #flush(): void {
    if (this.#answered !== undefined) this.moments.push(this.#answered);
    this.#answered = undefined;
  }

  #show(atRest: boolean): void {
    const events = this.#pending;
    this.#pending = [];
    this.#sequence += BigInt(events.length);
    const decision = this.#answered?.decision;
    this.#answered = create(ReplayMomentSchema, {
      events,
      sequence: this.#sequence,
      ...(decision === undefined ? {} : { decision }),
    });
    this.#flush();
    if (this.#seat === undefined) return;
    for (const { seat, event } of events) {
      const own = seat === this.#seat;
      if (event.case === "yearStarted" || (own && REVEALING.has(event.case))) this.#follows = false;
      if (own && event.case === "seatForfeited") this.#forfeited = true;
    }
    if (atRest && !this.#forfeited) this.#note();
  }

  #note(): void {
    if (this.#now === undefined) return;
    this.#views.push({ moment: this.moments.length - 1, view: this.#now });
    if (this.#follows) this.#certain = this.#views.length;
  }

  #sent(): void {
    this.#note();
    this.#certain = this.#views.length;
    this.#follows = true;
  }

  /** Adds to the moments the private views that are certain and differ from the last one. */
  #addPrivateViews(): void {
    const held = new Map<number, PrivateView>();
    for (const { moment, view } of this.#views.slice(0, this.#certain)) held.set(moment, view);
    let last: PrivateView | undefined;
    for (const [moment, view] of held) {
      if (view !== last) this.moments[moment]?.privateViews.push(view);
      last = view;
    }
  }
}

/** Replies to no open decision may come before the next one that is answered. */
const LOOK_AHEAD = 64;

/** Returns the seat that decides next; undefined if nobody is asked now. */
function asksNext(next: readonly ReplayMoment[]): number | undefined {
  for (const { decision, events } of next) {
    if (decision === undefined) return undefined; // a pause
    if (decision.kind !== DecisionKind.UNSPECIFIED || events.length > 0) return decision.seat;
  }
  return undefined;
}

/** Returns true if no turn is running: the next event begins one, or there is none. */
function endsTurn(next: readonly ReplayMoment[]): boolean {
  const event = next.find(({ events }) => events.length > 0)?.events[0];
  return event === undefined || event.event.case === "buyersDispatched";
}

function isRejected({ rejection }: ReplayDecision): boolean {
  return rejection !== RejectionReason.UNSPECIFIED;
}

/** Returns true if a decision ended without a reply: its seat forfeited. */
function isUnanswered(decision: ReplayDecision): boolean {
  return !isRejected(decision) && decision.actions.length === 0;
}

/** Returns true if a seat forfeited before the first turn: its bot was sent nothing. */
function isAbsent(open: ReplayView, seat: number | undefined): boolean {
  for (const { event, seat: concerned } of open.moments.flatMap(({ events }) => events)) {
    if (event.case === "buyersDispatched") return false;
    if (event.case === "seatForfeited" && concerned === seat) return true;
  }
  return false;
}
