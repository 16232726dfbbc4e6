/** The rules of a match in short: what players are after, a turn, the areas, what earns prestige. */

import { DecisionKind } from "asara/gen/play_pb.js";
import { type Area, RuleSet } from "asara/gen/vocabulary_pb.js";
import { useEffect, useRef } from "preact/hooks";
import type { MatchSetting } from "../match/model.js";
import { areaSentence, decisionHelp, ruleSetSentence, scoringSentences } from "../words/explain.js";
import { t } from "../words/language.js";
import { common } from "../words/sections/common.js";
import { play } from "../words/sections/play.js";
import { areaName } from "../words/vocabulary.js";

interface Props {
  readonly setting: MatchSetting;
  /** Lets every area explain itself once more. */
  readonly again: () => void;
  readonly close: () => void;
}

/** An overlay with the rules; Esc closes it, and the focus returns. */
export function Primer({ setting, again, close }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    if (dialog.current !== null) dialog.current.scrollTop = 0; // the focus is on a button below
  }, []);
  const gifts = setting.ruleSets.includes(RuleSet.GIFTS);
  return (
    <dialog ref={dialog} class="primer" aria-labelledby="primer-title" onClose={close}>
      <h2 id="primer-title">{t(play, "rules")}</h2>
      <p>{t(play, "goal", { years: setting.edition.years })}</p>
      <p>
        {t(play, "course")} {decisionHelp(DecisionKind.BUYERS)}
      </p>
      <p>{decisionHelp(DecisionKind.BUILD)}</p>
      <h3>{t(play, "areas")}</h3>
      <dl>
        {[...areasBySentence(setting)].map(([sentence, areas]) => (
          <div key={sentence}>
            <dt>{areas.map(areaName).join(", ")}</dt>
            <dd>{sentence}</dd>
          </div>
        ))}
      </dl>
      {gifts && <p>{ruleSetSentence(RuleSet.GIFTS)}</p>}
      <h3>{t(play, "scoring")}</h3>
      {scoringSentences(setting).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <div class="row">
        <button
          type="button"
          onClick={() => {
            again();
            dialog.current?.close();
          }}
        >
          {t(play, "explainAgain")}
        </button>
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
