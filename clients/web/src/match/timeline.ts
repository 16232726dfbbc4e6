/** Matches moment by moment: of a finished match at once, of a running one as it grows. */

import { equals } from "@bufbuild/protobuf";
import type { Event } from "asara/gen/event_pb.js";
import {
  type ReplayDecision,
  type ReplayMoment,
  type ReplayView,
  ViewerKind,
} from "asara/gen/replay_view_pb.js";
import { type PrivateView, type PublicView, PublicViewSchema } from "asara/gen/view_pb.js";
import type { Edition } from "asara/gen/vocabulary_pb.js";
import type { WatchResponse, WatchStarted } from "asara/gen/watch_pb.js";
import { MatchError } from "./errors.js";
import { type Fold, foldEvents, startFold, tableView } from "./fold.js";
import type { MatchRecord, MatchSetting, Moment, Viewer } from "./model.js";
import { isUnanswered, movingSeat } from "./places.js";
import { splitSteps, stepPrivateView } from "./steps.js";

type PrivateViews = readonly (PrivateView | undefined)[];

/**
 * Returns the record of a finished match.
 *
 * @throws {MatchError} if the view contradicts itself.
 */
export function recordOf(view: ReplayView): MatchRecord {
  const { edition, entries, moments } = view;
  checkSeats(entries);
  const setting: MatchSetting = {
    matchId: view.matchId,
    entries,
    ruleSets: view.ruleSets,
    edition: required(edition),
    viewer: viewerOf(view),
    startedUnixMs: Number(view.startedUnixMs),
    sharedDeal: view.sharedDeal,
    dealCommitment: view.dealCommitment,
    ...(view.clocks === undefined ? {} : { clocks: view.clocks }),
  };
  if (moments.length === 0) throw new MatchError("The replay has no moments; load it again.");
  const growth = new Growth(setting);
  for (const moment of moments) growth.addMoment(moment);
  if (view.results.some(({ seat }, index) => seat !== index)) {
    throw new MatchError("The replay has not one result for each seat; load it again.");
  }
  return { setting, moments: growth.moments, results: view.results };
}

/** A match that is being watched. */
export class LiveMatch {
  #growth: Growth | undefined;
  #record: MatchRecord | undefined;
  #started: WatchStarted | undefined;

  /** The match so far; undefined before its set-up was received. */
  get record(): MatchRecord | undefined {
    return this.#record;
  }

  /** Sequence number of the last event, for `WatchRequest.after_sequence` of the next connection. */
  get sequence(): number {
    return this.#growth?.sequence ?? 0;
  }

  /** True once the match has ended: no more messages follow. */
  get over(): boolean {
    return this.#record?.results !== undefined || this.#record?.void === true;
  }

  /**
   * Adds a message, and returns the record: a new one if the message changed anything.
   *
   * After a new connection, events that are known already are passed over.
   *
   * @throws {MatchError} if events are missing, or do not lead to the public view that was sent.
   */
  receive({ response }: WatchResponse): MatchRecord | undefined {
    switch (response.case) {
      case "started":
        this.#start(response.value);
        break;
      case "update":
        this.#add(response.value.events, Number(response.value.sequence));
        break;
      case "ended": {
        const { results, void: isVoid } = response.value;
        if (this.#record === undefined) break;
        this.#record = isVoid ? { ...this.#record, void: true } : { ...this.#record, results };
        break;
      }
    }
    return this.#record;
  }

  #start(started: WatchStarted): void {
    const { match, edition, dealCommitment } = started;
    if (match === undefined) throw new MatchError("The referee did not name the match.");
    checkSeats(match.entries);
    this.#started = started;
    this.#growth ??= new Growth({
      matchId: match.matchId,
      entries: match.entries,
      ruleSets: match.ruleSets,
      edition: required(edition),
      viewer: { kind: "everybody" },
      sharedDeal: "",
      dealCommitment,
    });
    if (this.#growth.setting.matchId !== match.matchId) {
      throw new MatchError(`The referee sent match ${match.matchId} instead of the one asked for.`);
    }
    this.#check(this.#growth);
  }

  #add(events: readonly Event[], sequence: number): void {
    const growth = this.#growth;
    if (growth === undefined) throw new MatchError("Events of a match came before the match.");
    const fresh = sequence - growth.sequence;
    if (fresh <= 0) return;
    if (fresh > events.length) {
      throw new MatchError("Events of the match are missing; load the page again.");
    }
    const known = sequence - events.length; // number of events before these
    const checked = this.#checkedSequence;
    if (checked > growth.sequence && checked < sequence) {
      growth.addEvents(events.slice(growth.sequence - known, checked - known), checked);
      this.#check(growth);
    }
    growth.addEvents(events.slice(growth.sequence - known), sequence);
    this.#check(growth);
    const moments = growth.moments.slice();
    this.#record = { setting: growth.setting, moments, results: undefined };
  }

  /** Number of the event after which the public view that was sent holds. */
  get #checkedSequence(): number {
    return Number(this.#started?.match?.sequence ?? 0);
  }

  /** Compares the public view that was sent, once its events are there. */
  #check(growth: Growth): void {
    const expected = this.#started?.publicView;
    if (expected === undefined || this.#checkedSequence !== growth.sequence) return;
    this.#started = undefined;
    // A match that forfeits end may end within a turn, and that view is older than its last events.
    const playing = growth.fold.forfeits.filter((forfeit) => forfeit === undefined);
    if (playing.length < 2 || equals(PublicViewSchema, growth.fold.view, expected)) return;
    throw new MatchError("The events of the match do not lead to the table that the referee sent.");
  }
}

/** The moments of a match, to which more are added. */
class Growth {
  readonly moments: Moment[] = [];
  readonly setting: MatchSetting;
  fold: Fold;
  sequence = 0;
  #privateViews: PrivateViews;

  constructor(setting: MatchSetting) {
    const { edition, ruleSets, entries } = setting;
    this.setting = setting;
    this.fold = startFold(edition, ruleSets, entries.length);
    this.#privateViews = entries.map(() => undefined);
  }

  /** Adds one record of a replay. */
  addMoment({ events, sequence, privateViews, decision }: ReplayMoment): void {
    if (Number(sequence) !== this.sequence + events.length) {
      throw new MatchError(`The replay lacks events after number ${this.sequence}; load it again.`);
    }
    if (decision !== undefined) this.#checkSeat(decision.seat);
    const after = [...this.#privateViews];
    for (const own of privateViews) {
      this.#checkSeat(own.seat);
      after[own.seat] = own;
    }
    const unchanged = privateViews.length === 0;
    this.#add(events, unchanged ? this.#privateViews : after, decision);
  }

  /** Adds the events of turns that are over. */
  addEvents(events: readonly Event[], sequence: number): void {
    if (sequence !== this.sequence + events.length) throw new RangeError("not the next events");
    this.#add(events, this.#privateViews, undefined);
  }

  #add(events: readonly Event[], after: PrivateViews, decision: ReplayDecision | undefined): void {
    const steps = splitSteps(events);
    const absent = decision !== undefined && isUnanswered(decision) ? decision.seat : undefined;
    for (const [number, step] of steps.entries()) {
      const last = number === steps.length - 1;
      this.#privateViews = last
        ? after
        : this.#privateViews.map((own) => own && stepPrivateView(own, step, decision));
      const seat = movingSeat(step);
      const forfeited = seat !== undefined && this.fold.forfeits[seat] !== undefined;
      const steward = forfeited || seat === absent ? seat : undefined;
      this.fold = foldEvents(this.fold, step);
      this.sequence += step.length;
      const publicView = last ? tableView(this.fold, after) : this.fold.view;
      const by = {
        ...(number === 0 && decision !== undefined ? { decision } : {}),
        ...(steward === undefined ? {} : { steward }),
      };
      this.#push(step, publicView, by);
    }
  }

  #push(
    events: readonly Event[],
    publicView: PublicView,
    by: Pick<Moment, "decision" | "steward">,
  ): void {
    const { forfeits } = this.fold;
    this.moments.push({
      index: this.moments.length,
      sequence: this.sequence,
      events,
      ...by,
      table: { publicView, privateViews: this.#privateViews, forfeits },
    });
  }

  #checkSeat(seat: number): void {
    if (this.setting.entries[seat] === undefined) {
      throw new MatchError(`The replay names seat ${seat}, which the match does not have.`);
    }
  }
}

function viewerOf({ viewer, viewerSeat }: ReplayView): Viewer {
  if (viewer === ViewerKind.SEAT) return { kind: "seat", seat: viewerSeat };
  return { kind: viewer === ViewerKind.OPEN ? "open" : "everybody" };
}

function checkSeats(entries: readonly string[]): void {
  if (entries.length < 2 || entries.length > 4) {
    throw new MatchError(`The match has ${entries.length} seats; ASARA is played by 2 to 4.`);
  }
}

function required(edition: Edition | undefined): Edition {
  if (edition === undefined) throw new MatchError("The match came without its edition.");
  return edition;
}
