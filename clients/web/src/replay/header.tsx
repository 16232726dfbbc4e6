/** The head of a match page: the year, the rules, the seats, and what the reader chooses. */

import type { ComponentChildren } from "preact";
import type { Viewer } from "../match/model.js";
import { wentBack } from "../router.js";
import { RulesButton } from "../rules/rules-button.js";
import { nextTheme, theme } from "../settings.js";
import { LANGUAGES } from "../words/catalogue.js";
import { chosenLanguage, isolate, languageFailed, setLanguage, t } from "../words/language.js";
import { common } from "../words/sections/common.js";
import { replay } from "../words/sections/replay.js";
import { unloaded } from "../words/unloaded.js";
import { rulesName } from "../words/vocabulary.js";
import "../ui/seat-name.css";
import "./header.css";
import { Icon, IconButton } from "../ui/icons.js";
import { parseViewer, viewerText } from "./links.js";
import type { MatchStore } from "./store.js";

const LANGUAGE_NAMES = new Map(
  LANGUAGES.map((tag) => {
    const name = new Intl.DisplayNames([tag], { type: "language" }).of(tag) ?? tag;
    return [tag, name.charAt(0).toLocaleUpperCase(tag) + name.slice(1)];
  }),
);

const SHORT = 12; // characters of a name for which there is always room

interface Props {
  readonly store: MatchStore;
  readonly showKeys: () => void;
  /** Address of the match's block, to see it side by side. */
  readonly block?: string | undefined;
  /** Address of the matches of its run, or of what led here. */
  readonly up?: string | undefined;
  readonly news?: ComponentChildren;
  /** True if a link can lead to a moment. */
  readonly linked: boolean;
}

/** The way back. */
export function UpLink({ to, label }: { readonly to: string; readonly label: string }) {
  return (
    <a
      class="button glyph up"
      href={to}
      aria-label={label}
      title={label}
      onClick={(event) => {
        const plain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
        if (plain && wentBack(to)) event.preventDefault();
      }}
    >
      <Icon glyph="list" />
    </a>
  );
}

export function Header({ store, showKeys, block, up, news, linked }: Props) {
  const { entries, ruleSets, edition } = store.record.value.setting;
  const { year } = store.moment.value.table.publicView;
  return (
    <header class="match-head">
      {up !== undefined && <UpLink to={up} label={t(replay, linked ? "allMatches" : "previous")} />}
      <div class="match-title">
        <h1>
          {entries.map((name, seat) => (
            // A long name gives way before the others do.
            <span
              key={seat}
              class={`seat-name seat-${seat}`}
              style={{ flexShrink: name.length > SHORT ? 1 : 0 }}
            >
              <bdi>{name}</bdi>
            </span>
          ))}
        </h1>
        <p>
          <b>{t(replay, "yearOf", { year, years: edition.years })}</b>
          <span class="quiet">{rulesName(ruleSets)}</span>
          <Connection store={store} />
          {news}
        </p>
      </div>
      <RulesButton setting={store.record.value.setting} timeline />
      <div class="choices">
        <ViewerChoice store={store} />
        <button
          type="button"
          aria-pressed={store.player.value.spoilerFree}
          aria-label={t(replay, "spoilers")}
          title={t(replay, "spoilersHelp")}
          onClick={() => store.setSpoilerFree(!store.player.value.spoilerFree)}
        >
          <Icon glyph="hidden" />
          <span class="text">{t(replay, "spoilers")}</span>
        </button>
        {block !== undefined && (
          <a
            class="button"
            href={block}
            aria-label={t(replay, "sideBySide")}
            title={t(replay, "sideBySide")}
          >
            <Icon glyph="columns" />
            <span class="text">{t(replay, "sideBySide")}</span>
          </a>
        )}
        {linked && (
          <IconButton glyph="link" label={t(replay, "share")} onClick={() => copyLink(store)} />
        )}
        <IconButton class="keys" glyph="keys" label={t(replay, "keys")} onClick={showKeys} />
        <Preferences />
      </div>
    </header>
  );
}

/** Whether the match is running, and whether this page still hears of it. */
function Connection({ store }: { store: MatchStore }) {
  const { kind } = store.source.state.value;
  if (kind !== "live" && kind !== "lost") return null;
  return <output class={`connection ${kind}`}>{t(replay, kind)}</output>;
}

function viewerName(viewer: Viewer, entries: readonly string[]): string {
  if (viewer.kind !== "seat") return t(replay, viewer.kind);
  const { seat } = viewer;
  return t(replay, "seatView", { name: isolate(entries[seat] ?? ""), seat });
}

function ViewerChoice({ store }: { store: MatchStore }) {
  const { viewer, entries } = store.record.value.setting;
  return (
    <label class="choice">
      <Icon glyph="eye" />
      <span class="unseen">{t(replay, "viewer")}</span>
      <select
        value={viewerText(viewer)}
        title={t(replay, "viewer")}
        onChange={(event) => {
          const chosen = parseViewer(event.currentTarget.value);
          if (chosen !== undefined) store.show(chosen);
        }}
      >
        {store.source.viewers.value.map((each) => (
          <option key={viewerText(each)} value={viewerText(each)}>
            {viewerName(each, entries)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Language and theme, for pages without a frame of their own. */
export function Preferences() {
  const themed = theme.value;
  return (
    <>
      <select
        class="language"
        aria-label={t(common, "language")}
        title={t(common, "language")}
        value={chosenLanguage.value}
        onChange={(event) => {
          const tag = LANGUAGES.find((each) => each === event.currentTarget.value);
          if (tag !== undefined) void setLanguage(tag);
        }}
      >
        {LANGUAGES.map((tag) => (
          <option key={tag} value={tag} lang={tag}>
            {/* closed, the select has room for the letters alone */}
            {`${tag.toUpperCase()}\u2003\u2003${LANGUAGE_NAMES.get(tag)}`}
          </option>
        ))}
      </select>
      {languageFailed.value && (
        <p class="language-failed" role="alert">
          {t(unloaded, "failed")}
        </p>
      )}
      <IconButton
        glyph={themed}
        label={`${t(replay, "theme")}: ${t(replay, themed)}`}
        onClick={() => {
          theme.value = nextTheme(themed);
        }}
      />
    </>
  );
}

/** Copies the link to the moment shown. */
export async function copyLink(store: MatchStore): Promise<void> {
  try {
    await navigator.clipboard.writeText(store.address(location.href));
    store.notice.value = t(replay, "copied");
  } catch {
    store.notice.value = t(replay, "copyFailed");
  }
}
