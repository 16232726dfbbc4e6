/** The state of the play page: the session, its connection, and what is shown of it when. */

import { batch, computed, signal } from "@preact/signals";
import type { Decision, PlayResponse } from "asara/gen/play_pb.js";
import { DecisionKind } from "asara/gen/play_pb.js";
import { type Action, Area } from "asara/gen/vocabulary_pb.js";
import { type BoardChoices, type Target, targetsOf } from "../board/targets.js";
import type { Moment } from "../match/model.js";
import type { Ending } from "../match/reconnecting-socket.js";
import { speed } from "../settings.js";
import { besideBoard, nextTargets, pick } from "./choosing.js";
import { Connection } from "./connection.js";
import { isNew, noteExplained } from "./explained.js";
import type { SeatLink } from "./link.js";
import { askHint, askPreview } from "./preview.js";
import * as sessions from "./session.js";

const MOMENT_MS = 750; // of an opponent's step, at ordinary speed
const YEAR_MS = 1600; // of an evaluation
const NONCE_BYTES = 32;
const LEAVE_MS = 1000; // for the replay to be fetched

export class PlayStore {
  readonly session;
  /** True while the connection works; undefined before it did. */
  readonly connected = signal<boolean | undefined>(undefined);
  /** Set when the referee ended the connection for good. */
  readonly ending = signal<Ending | undefined>(undefined);
  /** Index of the moment that the board shows; opponents' turns are shown one by one. */
  readonly shown = signal(0);
  /** Targets picked for the open decision. */
  readonly picked = signal<readonly Target[]>([]);
  /** Place that was clicked and cannot be chosen. */
  readonly refused = signal<Target | undefined>(undefined);
  /** Area that is explained now, because the person goes there for the first time. */
  readonly explaining = signal<Area>(Area.UNSPECIFIED);
  /** The decision that a hint was asked for last, and the hint once it has come. */
  readonly #hint = signal<{ readonly decision: Decision; readonly action?: Action }>();
  /** When the open decision was asked, in milliseconds of `performance.now`. */
  readonly askedAt = signal(0);
  #connection: Connection | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly link: SeatLink) {
    this.session = signal(sessions.newSession(link));
  }

  /** True once the board shows the last moment. */
  readonly caughtUp = computed(() => this.shown.value >= this.session.value.moments.length - 1);
  /** The decision that the person can answer now. */
  readonly decision = computed(() =>
    this.caughtUp.value ? sessions.openDecision(this.session.value) : undefined,
  );
  /** The hint for the open decision: `asked` until it comes, or the connection breaks. */
  readonly hint = computed(() => {
    const asked = this.#hint.value;
    if (asked === undefined || asked.decision !== this.decision.value) return undefined;
    return asked.action ?? (this.connected.value === false ? undefined : "asked");
  });
  readonly hintTargets = computed<ReadonlySet<Target> | undefined>(() => {
    const hint = this.hint.value;
    return typeof hint === "object" ? new Set(targetsOf(hint, this.searched.value)) : undefined;
  });
  readonly ready = computed(() => this.caughtUp.value && sessions.isReady(this.session.value));
  readonly moment = computed<Moment | undefined>(() => {
    const { moments } = this.session.value;
    if (this.caughtUp.value) return sessions.tentative(this.session.value);
    return moments[this.shown.value];
  });
  readonly searched = computed(() => this.decision.value?.kind === DecisionKind.PILE_SECTION);
  readonly legal = computed(() => this.decision.value?.legalActions ?? []);
  readonly beside = computed(() =>
    besideBoard(this.legal.value, this.picked.value, this.searched.value),
  );
  readonly choices = computed<BoardChoices | undefined>(() => {
    const decision = this.decision.value;
    if (decision === undefined) return undefined;
    const chosen = new Set(this.picked.value);
    const { space, kind } = decision;
    if (space !== undefined && kind === DecisionKind.BUYERS) {
      chosen.add(`space ${space.area} ${space.number}`);
    }
    return {
      actions: nextTargets(this.legal.value, this.picked.value, this.searched.value),
      chosen,
      choose: (target) => this.pick(target),
      refuse: (target) => {
        this.refused.value = target;
      },
    };
  });

  /** Connects; the returned function ends it. */
  run(): () => void {
    this.#connect();
    return () => {
      clearTimeout(this.#timer);
      this.#connection?.close();
    };
  }

  #connect(): void {
    this.#connection?.close();
    this.ending.value = undefined;
    this.connected.value = undefined;
    this.#connection = new Connection({
      hello: () => sessions.helloOf(this.session.peek()),
      received: (response) => this.#receive(response),
      connected: (now) => {
        this.connected.value = now;
      },
      ended: (ending) => {
        batch(() => {
          this.connected.value = false;
          this.ending.value = ending;
        });
      },
    });
  }

  #receive(response: PlayResponse): void {
    const before = this.session.peek();
    const nonce = () => crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const { session, request } = sessions.receive(before, response, nonce);
    batch(() => {
      this.session.value = session;
      if (session.started?.matchId !== before.started?.matchId) this.shown.value = 0;
      if (session.decision !== before.decision) {
        this.picked.value = [];
        this.refused.value = undefined;
        this.askedAt.value = performance.now();
      }
    });
    if (request !== undefined) this.#connection?.send(request);
    if (sessions.lacksHistory(session)) {
      this.session.value = sessions.rewound(session);
      this.#connect();
      return;
    }
    // The page has been told: the table may end, or be set up for another match.
    if (session.stage === "over" && session.ended?.void !== true) this.#leave();
    if (before.moments.length === 1 && session.moments.length > 2) this.skip();
    else this.#schedule();
  }

  /** Ends the connection, soon: a server that is about to end stays as long. */
  #leave(): void {
    const connection = this.#connection;
    setTimeout(() => connection?.close(), LEAVE_MS);
  }

  // What is shown

  #schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const session = this.session.peek();
    // The own turn was shown while it was collected.
    while (!this.caughtUp.peek() && sessions.isOwn(session, this.shown.peek() + 1)) {
      this.shown.value += 1;
    }
    if (this.caughtUp.peek()) return;
    if (document.hidden || isStill()) {
      this.skip();
      return;
    }
    const next = session.moments[this.shown.peek() + 1];
    const year = next?.events.some(({ event }) => event.case === "yearEvaluated") === true;
    this.#timer = setTimeout(
      () => {
        this.shown.value += 1;
        this.#schedule();
      },
      (year ? YEAR_MS : MOMENT_MS) / speed.peek(),
    );
  }

  /** Shows at once all that has happened. */
  skip(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.shown.value = Math.max(0, this.session.peek().moments.length - 1);
  }

  // The turn

  pick(target: Target): void {
    const { picked, decision } = this;
    this.refused.value = undefined;
    const space = decision.value?.space;
    if (space !== undefined && target === `space ${space.area} ${space.number}`) {
      if (!this.legal.value.some((action) => action.action.case === "wish")) {
        this.undo(); // the space that was chosen
        return;
      }
    }
    const next = pick(this.legal.value, picked.value, target, this.searched.value);
    if ("action" in next) this.choose(next.action);
    else picked.value = next.picked;
  }

  choose(action: Action): void {
    const before = this.session.peek();
    const session = sessions.choose(before, action);
    const { started, decision, steps } = session;
    const step = steps.at(-1);
    if (session === before || step === undefined || started === undefined) return;
    batch(() => {
      this.session.value = session;
      this.picked.value = [];
      this.#explain(action);
    });
    if (decision === undefined) return;
    const actions = steps.map((each) => each.action);
    void askPreview(started, decision, actions).then((response) => {
      this.session.value = sessions.foresee(this.session.peek(), step, response);
    });
  }

  #explain(action: Action): void {
    const area = areaOf(action);
    if (area !== undefined && isNew(area)) {
      this.explaining.value = area;
      noteExplained(area);
    }
  }

  askHint(): void {
    const { started } = this.session.peek();
    const decision = this.decision.peek();
    if (started === undefined || decision === undefined || this.hint.peek() !== undefined) return;
    const asked = { decision };
    this.#hint.value = asked;
    void askHint(started, decision).then((action) => {
      if (this.#hint.peek() !== asked) return;
      this.#hint.value = action === undefined ? undefined : { decision, action };
    });
  }

  /** Puts back what is picked or, if nothing is, takes back the last step. */
  undo(): void {
    if (this.picked.value.length > 0) this.picked.value = [];
    else this.undoFrom(this.session.peek().steps.length - 1);
  }

  undoFrom(step: number): void {
    const session = this.session.peek();
    if (session.sent !== undefined && session.sent.decisionId === session.decision?.decisionId) {
      return;
    }
    batch(() => {
      this.session.value = sessions.undo(session, step);
      this.picked.value = [];
      const last = session.steps
        .slice(0, step)
        .findLast((each) => areaOf(each.action) !== undefined);
      if (last === undefined || areaOf(last.action) !== this.explaining.peek()) {
        this.explaining.value = Area.UNSPECIFIED;
      }
    });
  }

  send(): void {
    const { session, request } = sessions.send(this.session.peek());
    if (request === undefined) return;
    batch(() => {
      this.session.value = session;
      this.picked.value = [];
      this.explaining.value = Area.UNSPECIFIED;
    });
    this.#connection?.send(request);
  }

  /** Asks for another match, or takes the seat back from another page. */
  again(): void {
    const { stage } = this.session.peek();
    if (stage === "over") {
      batch(() => {
        this.session.value = sessions.again(this.session.peek());
        this.shown.value = 0;
      });
    }
    this.#connect();
  }
}

/** True if nothing is to move. */
function isStill(): boolean {
  return speed.peek() > 4 || matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Returns the area that an action goes to or wishes for; undefined if it does neither. */
function areaOf({ action }: Action): Area | undefined {
  const goes = action.case === "chooseSpace" || action.case === "wish";
  return goes ? (action.value.space?.area ?? Area.UNSPECIFIED) : undefined;
}
