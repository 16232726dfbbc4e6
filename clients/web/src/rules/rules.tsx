/** The rules in short, and what the signs on the board mean. */

import { DecisionKind } from "asara/gen/play_pb.js";
import { Area, GiftKind, RuleSet, SectionKind } from "asara/gen/vocabulary_pb.js";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { CoinIcon, CrownIcon, Lantern, ScreenIcon, StarIcon } from "../board/icons.js";
import { BuyerIcon, BuyerShape, SeatBadge, SectionIcon, SectionShape } from "../board/pieces.js";
import { Banner, Chest } from "../board/space.js";
import "../board/board.css";
import type { MatchSetting } from "../match/model.js";
import {
  areaSentence,
  decisionHelp,
  ruleSetSentence,
  type SymbolName,
  scoringSentences,
  startSentences,
  symbolSentence,
  texts,
} from "../words/explain.js";
import { t } from "../words/language.js";
import { common } from "../words/sections/common.js";
import { areaName } from "../words/vocabulary.js";
import "./rules.css";

export interface RulesProps {
  readonly setting: MatchSetting;
  /** True if the page has a timeline, whose marks are then explained. */
  readonly timeline?: boolean;
  /** A further button, which closes the rules as well. */
  readonly button?: { readonly label: string; readonly press: () => void };
  readonly close: () => void;
}

/** An overlay with the rules; Esc closes it, and the focus returns. */
export function Rules({ setting, timeline = false, button, close }: RulesProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    if (dialog.current !== null) dialog.current.scrollTop = 0; // the focus is on a button below
  }, []);
  const gifts = setting.ruleSets.includes(RuleSet.GIFTS);
  return (
    <dialog ref={dialog} class="rules" aria-labelledby="rules-title" onClose={close}>
      <h2 id="rules-title">{t(common, "rules")}</h2>
      <p>{t(texts, "goal", { years: setting.edition.years })}</p>
      <p>
        {t(texts, "course")} {decisionHelp(DecisionKind.BUYERS)}
      </p>
      {startSentences(setting).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <h3>{t(texts, "symbols")}</h3>
      <ul class="symbols board">
        {[...symbols(setting), ...(timeline ? MARKS : [])].map(([name, sign]) => (
          <li key={name}>
            <span aria-hidden="true">{sign}</span>
            {symbolSentence(name)}
          </li>
        ))}
      </ul>
      <h3>{t(texts, "areas")}</h3>
      <dl>
        {[...areasBySentence(setting)].map(([sentence, areas]) => (
          <div key={sentence}>
            <dt>{areas.map(areaName).join(", ")}</dt>
            <dd>
              {sentence}
              {areas.includes(Area.BUILDING_CIRCLE) &&
                ` ${t(texts, "lowerPlots")} ${decisionHelp(DecisionKind.BUILD)}`}
            </dd>
          </div>
        ))}
      </dl>
      {gifts && <p>{ruleSetSentence(RuleSet.GIFTS)}</p>}
      <h3>{t(texts, "scoring")}</h3>
      {scoringSentences(setting).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <div class="row">
        {button !== undefined && (
          <button
            type="button"
            onClick={() => {
              button.press();
              dialog.current?.close();
            }}
          >
            {button.label}
          </button>
        )}
        <button type="button" class="primary" onClick={() => dialog.current?.close()}>
          {t(common, "close")}
        </button>
      </div>
    </dialog>
  );
}

/** The areas of the match; the markets share a sentence. */
function areasBySentence(setting: MatchSetting): ReadonlyMap<string, readonly Area[]> {
  const areas = setting.edition.spaces.flatMap(({ space }) => space?.area ?? []);
  const bySentence = new Map<string, Area[]>();
  for (const area of [...new Set(areas)].sort((a, b) => a - b)) {
    const sentence = areaSentence(area, setting);
    bySentence.set(sentence, [...(bySentence.get(sentence) ?? []), area]);
  }
  return bySentence;
}

/** The signs that the match has, each as the board draws it. */
function symbols({ ruleSets, edition }: MatchSetting): [SymbolName, ComponentChildren][] {
  const { BASE, TRUNK, WINDOW, TURRET } = SectionKind;
  const [first, second, third, fourth, fifth] = edition.colours.map(({ colour }) => colour);
  if (!first || !second || !third || !fourth || !fifth) return [];
  const signs: [SymbolName, ComponentChildren][] = [
    ["year", [<Lantern key={0} year={1} lit />, <Lantern key={1} year={2} lit={false} />]],
    ["seat", [0, 1, 2, 3].map((seat) => <SeatBadge key={seat} seat={seat} />)],
    ["prestige", <StarIcon key={0} />],
    ["patronage", <CrownIcon key={0} label="" />],
    ["buyers", [1, 2, 3, 4, 5].map((colour) => <BuyerIcon key={colour} colour={colour} />)],
    [
      "faceDown",
      <Sign key={0}>
        <BuyerShape colour={0} seat={0} pair />
      </Sign>,
    ],
    [
      "banner",
      <Sign key={0}>
        <Banner colour={1} x={0} y={-15} />
      </Sign>,
    ],
    [
      "cost",
      <Sign key={0}>
        <circle class="slot" r="15" />
        <text class="slot-text" y="5">
          −3
        </text>
      </Sign>,
    ],
    [
      "sections",
      [
        <SectionIcon key={0} kind={BASE} colour={first} size={20} />,
        <SectionIcon key={1} kind={TRUNK} colour={second} size={20} />,
        <SectionIcon key={2} kind={WINDOW} colour={third} size={20} />,
        <SectionIcon key={3} kind={TURRET} colour={fifth} size={20} />,
        <SectionIcon key={4} kind={TRUNK} colour={fourth} size={20} />,
      ],
    ],
    [
      "price",
      <Sign key={0}>
        <path class="price-line" d="M-13 -4h26" />
        <text class="price" y="11">
          {edition.colours[0]?.price}
        </text>
      </Sign>,
    ],
    [
      "pile",
      <Sign key={0}>
        {[9, 4.5, 0].map((y) => (
          <rect key={y} class="tile" x="-15" y={y - 15} width="30" height="22" rx="4" />
        ))}
        <text class="number" y="1">
          9
        </text>
      </Sign>,
    ],
    ["gold", <SectionIcon key={0} kind={TURRET} colour={second} gold />],
    ["asari", <CoinIcon key={0} />],
    ["screen", <ScreenIcon key={0} label="" />],
  ];
  if (ruleSets.includes(RuleSet.PROFESSIONAL)) {
    signs.push([
      "lit",
      <Sign key={0}>
        <g transform="translate(0 12)">
          <SectionShape kind={WINDOW} colour={first} lit />
        </g>
      </Sign>,
    ]);
  }
  const gift = edition.gifts.find(({ card }) => card?.kind === GiftKind.ASARI)?.card;
  if (ruleSets.includes(RuleSet.GIFTS) && gift !== undefined) {
    signs.push([
      "chest",
      <Sign key={0}>
        <Chest cards={[gift]} x={0} y={0} />
      </Sign>,
    ]);
  }
  return signs;
}

/** The marks of a timeline, as the match page draws them. */
const MARKS = (["build", "award", "fault"] as const).map(
  (name): [SymbolName, ComponentChildren] => [name, <span key={0} class={`mark ${name}`} />],
);

/** A part of the board as a picture of its own. */
function Sign({ children }: { readonly children: ComponentChildren }) {
  return (
    <svg class="sign" aria-hidden="true" width="34" height="34" viewBox="-17 -17 34 34">
      {children}
    </svg>
  );
}
