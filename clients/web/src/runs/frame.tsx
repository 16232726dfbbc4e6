/** The frame of the pages about runs: where one is, and what holds for all pages. */

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Preferences } from "../replay/header.js";
import { pathOf, type Route } from "../router.js";
import { spoilerFree } from "../settings.js";
import { Icon } from "../ui/icons.js";
import { t } from "../words/language.js";
import { runs } from "../words/sections/runs.js";
import type { Polled } from "./api.js";
import { Name } from "./names.js";
import "./runs.css";

interface FrameProps {
  /** Heading of the page. */
  readonly title: string;
  /** Note beside the heading. */
  readonly note?: ComponentChildren;
  /** The run that the page is about, to lead to its other pages; "" in a file, which has none. */
  readonly run?: string;
  readonly page?: Route["page"];
  readonly children: ComponentChildren;
}

export function Frame({ title, note, run, page, children }: FrameProps) {
  useEffect(() => {
    document.title = `${title} – ASARA`;
  }, [title]);
  const mark = (
    <>
      <Skyline />
      <span>ASARA</span>
    </>
  );
  return (
    <div class="frame">
      <a class="skip" href="#content">
        {t(runs, "skip")}
      </a>
      <header class="top">
        {run === "" ? (
          <span class="brand">{mark}</span>
        ) : (
          <a class="brand" href="/" aria-label={`ASARA: ${t(runs, "runs")}`}>
            {mark}
          </a>
        )}
        <div class="choices">
          <SpoilerSwitch />
          <Preferences />
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        <div class="title-row">
          <h1>
            <Name of={title} />
          </h1>
          {note}
        </div>
        {run && (
          <nav class="tabs" aria-label={t(runs, "navigation")}>
            <Tab to={{ page: "run", run }} now={page} text={t(runs, "overview")} />
            <Tab to={{ page: "matches", run }} now={page} text={t(runs, "matches")} />
          </nav>
        )}
        {children}
      </main>
    </div>
  );
}

function Tab({ to, now, text }: { to: Route; now: Route["page"] | undefined; text: string }) {
  return (
    <a href={pathOf(to)} {...(to.page === now && { "aria-current": "page" as const })}>
      {text}
    </a>
  );
}

function SpoilerSwitch() {
  const hidden = spoilerFree.value;
  return (
    <button
      type="button"
      aria-pressed={hidden}
      aria-label={t(runs, "hide")}
      onClick={() => {
        spoilerFree.value = !hidden;
      }}
    >
      <Icon glyph="hidden" />
      <span class="switch-text">{t(runs, "hide")}</span>
    </button>
  );
}

/** Four towers: the mark of the page. */
function Skyline() {
  return (
    <svg viewBox="0 0 40 28" aria-hidden="true">
      <path d="M2 26V16h6v10zM12 26V9h6v17zM22 26V13h6v13zM32 26V5h6v21z" />
      <path d="M1 16l4-5 4 5zM11 9l4-6 4 6zM21 13l4-5 4 5zM31 5l4-5 4 5zM0 26h40v1.5H0z" />
    </svg>
  );
}

/** Sentences about a value that is missing, or that is not being renewed. */
export function Waiting({ state, over }: { state: Polled<unknown>; over?: boolean }) {
  if (state.refused !== undefined) {
    return (
      <div class="notice bad" role="alert">
        <p>{t(runs, "failed")}</p>
        <p>
          <bdi>{state.refused}</bdi>
        </p>
      </div>
    );
  }
  // The page of a run that was watched ends with the run.
  if (state.silent && over === true) return <p class="notice">{t(runs, "pageEnded")}</p>;
  if (state.silent) {
    return (
      <p class="notice bad" role="alert">
        {t(runs, "retrying")}
      </p>
    );
  }
  return state.value === undefined ? (
    <p class="notice" role="status">
      {t(runs, "loading")}
    </p>
  ) : null;
}

/** Stands in the place of results while they are hidden. */
export function HiddenResults() {
  return (
    <p class="notice">
      {t(runs, "hiddenHelp")}{" "}
      <button
        type="button"
        onClick={() => {
          spoilerFree.value = false;
        }}
      >
        {t(runs, "show")}
      </button>
    </p>
  );
}
