/** The bar below the table: what is asked, the turn collected so far, and the button that sends it. */

import { DecisionKind } from "asara/gen/play_pb.js";
import { RuleSet } from "asara/gen/vocabulary_pb.js";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { choose } from "../board/board.js";
import { Holdings } from "../board/skyline.js";
import type { MatchSetting } from "../match/model.js";
import { areaSentence, decisionHelp, texts } from "../words/explain.js";
import { t } from "../words/language.js";
import { common } from "../words/sections/common.js";
import { play } from "../words/sections/play.js";
import { actionSentence, decisionTitle, seatName } from "../words/sentences.js";
import { areaName } from "../words/vocabulary.js";
import { isNewcomer } from "./explained.js";
import { refusal } from "./refusal.js";
import type { PlayStore } from "./store.js";

const PHONE = "(max-width: 760px)"; // as in play.css

interface Props {
  readonly store: PlayStore;
  readonly setting: MatchSetting;
}

export function Dock({
  store,
  setting,
  showRules,
}: Props & {
  /** Opens the rules. */
  readonly showRules: () => void;
}) {
  return (
    <section class="dock" aria-label={t(play, "soFar")}>
      {isNewcomer() ? (
        <Welcome setting={setting} showRules={showRules} />
      ) : (
        <Explanation store={store} setting={setting} />
      )}
      <Held store={store} setting={setting} />
      <div class="dock-row">
        <div class="dock-ask" aria-live="polite">
          <Question store={store} setting={setting} />
          <Refusal store={store} setting={setting} />
          <Hint store={store} setting={setting} />
        </div>
        <Steps store={store} setting={setting} />
        <Buttons store={store} />
      </div>
    </section>
  );
}

/** The person's hand and purse, on a phone, which shows another part of the board meanwhile. */
function Held({ store, setting }: Props) {
  if (!usePhone()) return null;
  const { seat } = store.session.value;
  const table = store.moment.value?.table;
  const view = table?.publicView.seats[seat];
  if (table === undefined || view === undefined) return null;
  const lit = setting.ruleSets.includes(RuleSet.PROFESSIONAL);
  const mine = table.privateViews[seat];
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the board has the buttons
    // biome-ignore lint/a11y/useKeyWithClickEvents: a shortcut for the thumb
    <div class="dock-held board" onClick={(event) => choose(event.target, store.choices.value)}>
      <Holdings seat={view} mine={mine} active={true} litWindows={lit} />
    </div>
  );
}

/** True while the window is as narrow as a phone, which can be turned. */
function usePhone(): boolean {
  const [phone, setPhone] = useState(() => matchMedia(PHONE).matches);
  useEffect(() => {
    const query = matchMedia(PHONE);
    const follow = () => setPhone(query.matches);
    follow();
    query.addEventListener("change", follow);
    return () => query.removeEventListener("change", follow);
  }, []);
  return phone;
}

/** What players are after, until the person has gone anywhere. */
function Welcome({
  setting,
  showRules,
}: {
  readonly setting: MatchSetting;
  readonly showRules: () => void;
}) {
  return (
    <p class="explanation">
      {t(texts, "goal", { years: setting.edition.years })}{" "}
      <button type="button" onClick={showRules}>
        {t(common, "rules")}
      </button>
    </p>
  );
}

/** What an area does, when the person first goes there. */
function Explanation({ store, setting }: Props) {
  const area = store.explaining.value;
  if (area === 0) return null;
  return (
    <p class="explanation" role="note">
      <b>
        {areaName(area)} <small>{t(play, "newHere")}</small>
      </b>{" "}
      {areaSentence(area, setting)}
    </p>
  );
}

function Question({ store, setting }: Props) {
  const session = store.session.value;
  const decision = store.decision.value;
  if (decision !== undefined) {
    return (
      <Titled title={decisionTitle(decision.kind)}>
        {decision.kind === DecisionKind.SPACE ? `${t(play, "yourTurn")}. ` : ""}
        {decisionHelp(decision.kind)}
      </Titled>
    );
  }
  if (store.ready.value) {
    const next = session.steps.at(-1)?.next.kind;
    if (next === "hidden") return <Titled title={t(play, "soFar")}>{t(play, "hidden")}</Titled>;
    if (next === "unknown") return <Titled title={t(play, "soFar")}>{t(play, "unknown")}</Titled>;
    return <Titled title={t(play, "complete")} />;
  }
  if (session.steps.length > 0 && session.sent === undefined) {
    return <Titled title={t(play, "soFar")} />;
  }
  const seat = store.moment.value?.table.publicView.turnSeat ?? session.seat;
  if (seat === session.seat) return <Titled title={t(play, "sent")} />;
  return <Titled title={t(play, "turnOf", { name: seatName(seat, setting) })} />;
}

/** Why the place that was clicked cannot be chosen. */
function Refusal({ store, setting }: Props) {
  const target = store.refused.value;
  const moment = store.moment.value;
  const kind = store.decision.value?.kind;
  const actions = store.choices.value?.actions;
  const why =
    target !== undefined && moment !== undefined && kind !== undefined && actions !== undefined
      ? refusal(target, kind, setting, moment, store.session.value.seat, actions)
      : undefined;
  return <output class="refusal">{why}</output>;
}

/** What the server would do now, once the person has asked. */
function Hint({ store, setting }: Props) {
  const hint = store.hint.value;
  if (hint === undefined) return null;
  const step = hint === "asked" ? t(play, "thinking") : actionSentence(hint, { setting });
  return <output class="advice">{t(play, "hintIs", { step })}</output>;
}

function Titled({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <>
      <h2>{title}</h2>
      {children !== undefined && <p class="quiet">{children}</p>}
    </>
  );
}

/** The steps so far; each can be taken back, with those after it. */
function Steps({ store, setting }: Props) {
  const { steps, sent } = store.session.value;
  const list = useRef<HTMLOListElement>(null);
  useLayoutEffect(() => {
    list.current?.scrollTo(0, list.current.scrollHeight); // on a phone the last may be below
  }, [steps.length]);
  if (steps.length === 0) return null;
  return (
    <ol class="steps" ref={list}>
      {steps.map(({ action }, index) => {
        const step = actionSentence(action, { setting });
        return (
          <li key={index}>
            <span>{step}</span>
            {sent === undefined && (
              <button
                type="button"
                class="plain"
                aria-label={t(play, "undoStep", { step })}
                title={t(play, "undo")}
                onClick={() => store.undoFrom(index)}
              >
                ×
              </button>
            )}
          </li>
        );
      })}
    </ol>
  );
}

function Buttons({ store }: { readonly store: PlayStore }) {
  const { steps, sent } = store.session.value;
  if (!store.caughtUp.value) {
    return (
      <div class="dock-buttons">
        <button type="button" onClick={() => store.skip()}>
          {t(play, "showAll")}
        </button>
      </div>
    );
  }
  if (sent !== undefined) return null;
  const hidden = steps.at(-1)?.next.kind === "hidden";
  return (
    <div class="dock-buttons">
      {store.decision.value !== undefined && (
        <button
          type="button"
          disabled={store.hint.value !== undefined}
          onClick={() => store.askHint()}
        >
          {t(play, "hint")}
        </button>
      )}
      {steps.length + store.picked.value.length > 0 && (
        <button type="button" onClick={() => store.undo()}>
          {t(play, "undo")}
        </button>
      )}
      {store.ready.value && (
        <button type="button" class="primary" data-send onClick={() => store.send()}>
          {t(play, hidden ? "look" : "send")}
        </button>
      )}
    </div>
  );
}
