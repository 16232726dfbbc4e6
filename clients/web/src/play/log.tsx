/** What has happened, in words. */

import { useRef } from "preact/hooks";
import type { MatchSetting, Moment } from "../match/model.js";
import { useMore } from "../ui/more.js";
import { t } from "../words/language.js";
import { play } from "../words/sections/play.js";
import { momentSentences } from "../words/sentences.js";
import { tableText } from "../words/table.js";
import type { PlayStore } from "./store.js";

const SHOWN = 24;

interface Props {
  readonly store: PlayStore;
  readonly setting: MatchSetting;
}

export function Log({ store, setting }: Props) {
  const { moments, seat } = store.session.value;
  const last = Math.min(store.shown.value, moments.length - 1);
  const told: { readonly moment: Moment; readonly sentences: readonly string[] }[] = [];
  for (let index = last; index >= 0 && told.length < SHOWN; index--) {
    const moment = moments[index];
    if (moment === undefined) continue;
    const sentences = momentSentences(moment, setting, moments[index - 1], seat);
    if (sentences.length > 0) told.push({ moment, sentences });
  }
  const [newest] = told;
  const box = useRef<HTMLOListElement>(null);
  useMore(box);
  return (
    <div class="play-log">
      <h2>{t(play, "happened")}</h2>
      <div class="unseen" aria-live="polite">
        {newest !== undefined && newest.moment.index === last ? newest.sentences.join(" ") : ""}
      </div>
      {told.length === 0 && <p class="quiet">{t(play, "nothing")}</p>}
      <ol
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys
        tabIndex={0}
        aria-label={t(play, "happened")}
      >
        {told.map(({ moment, sentences }) => (
          <li key={moment.index} class={`seat-${moment.events[0]?.seat ?? 0}`}>
            {sentences.join(" ")}
          </li>
        ))}
      </ol>
      <TableInWords store={store} setting={setting} />
    </div>
  );
}

/** The table as text, for those who do not see it. */
function TableInWords({ store, setting }: Props) {
  const moment = store.moment.value;
  if (moment === undefined) return null;
  return (
    <details class="in-words">
      <summary>{t(play, "inWords")}</summary>
      {tableText(moment.table, setting).map(({ heading, lines }) => (
        <section key={heading}>
          <h3>{heading}</h3>
          <ul>
            {lines.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </section>
      ))}
    </details>
  );
}
