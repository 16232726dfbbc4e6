/** The matches of a run: filters in the address, and a list of any length. */

import { useEffect, useMemo } from "preact/hooks";
import { runPath } from "../match/api.js";
import { address, replaceQuery } from "../router.js";
import { spoilerFree } from "../settings.js";
import { t } from "../words/language.js";
import { number } from "../words/numbers.js";
import { common } from "../words/sections/common.js";
import { runs } from "../words/sections/runs.js";
import { type Run, usePolled } from "./api.js";
import { Frame, Waiting } from "./frame.js";
import { kindsOf, MatchList } from "./match-list.js";
import { MatchRows } from "./match-rows.js";
import { faultText, rulesText } from "./names.js";
import { StateBadge } from "./progress.js";

const FIELDS = [
  "entry",
  "opponent",
  "seats",
  "rules",
  "result",
  "forfeit",
  "state",
  "order",
] as const;
type Field = (typeof FIELDS)[number];
type Filter = Readonly<Record<Field, string>>;

const FORFEITS = [
  "any",
  "rejected_replies",
  "time_out",
  "crash",
  "never_started",
  "protocol_violation",
  "suspended",
  "missed",
] as const;

/** The filter that a query contains; unknown words are left to the server, which explains. */
export function filterOf(query: string): Filter {
  const found = new URLSearchParams(query);
  return Object.fromEntries(FIELDS.map((field) => [field, found.get(field) ?? ""])) as Record<
    Field,
    string
  >;
}

/** The query of a filter, without what is not set. */
export function queryOf(filter: Filter): URLSearchParams {
  return new URLSearchParams(
    FIELDS.flatMap((each) => (filter[each] ? [[each, filter[each]]] : [])),
  );
}

export function MatchesPage({ run: name }: { run: string }) {
  const state = usePolled<Run>(runPath(name), (run) => run.state === "running").value;
  const run = state.value;
  const filter = filterOf(address.value.query);
  const query = queryOf(filter).toString();
  const rows = useMemo(
    () => new MatchRows(`${runPath(name)}/matches${query && `?${query}`}`),
    [name, query],
  );
  useEffect(() => () => rows.close(), [rows]);
  const total = rows.total.value;
  return (
    <Frame
      title={run?.title ?? name}
      note={run && <StateBadge state={run.state} kind={run.kind} />}
      run={name}
      page="matches"
    >
      <Waiting state={{ ...state, value: run ?? {} }} />
      {run && <Filters run={run} filter={filter} />}
      <div class="list-head">
        <p role="status">{total === undefined ? "" : t(common, "matches", { count: total })}</p>
        <p class="quiet keys-note">{t(runs, "listHelp")}</p>
      </div>
      {rows.refused.value !== undefined && (
        <p class="notice bad" role="alert">
          <bdi>{rows.refused.value}</bdi>
        </p>
      )}
      {total === 0 && <p class="notice">{t(runs, query === "" ? "noMatches" : "noneFound")}</p>}
      <MatchList
        run={name}
        rows={rows}
        goesOn={run?.state === "running"}
        own={filter.entry}
        names={run?.entries ?? []}
        seats={run?.seats.at(-1) ?? 4}
        faults={kindsOf(run)}
      />
    </Frame>
  );
}

function Filters({ run, filter }: { run: Run; filter: Filter }) {
  const entries = run.entries.map((each) => [each, each] as const);
  const hidden = spoilerFree.value;
  const results = filter.entry === "" ? (["tied"] as const) : (["won", "tied", "lost"] as const);
  const set = queryOf({ ...filter, order: "" }).size > 0;
  return (
    <form class="filters" aria-label={t(runs, "filters")} onSubmit={(e) => e.preventDefault()}>
      <Choice field="entry" filter={filter} options={entries} />
      {filter.entry !== "" && (
        <Choice
          field="opponent"
          filter={filter}
          options={entries.filter(([each]) => each !== filter.entry)}
        />
      )}
      {run.seats.length > 1 && (
        <Choice
          field="seats"
          filter={filter}
          options={run.seats.map((each) => [`${each}`, number(each)])}
        />
      )}
      {run.rules.length > 1 && (
        <Choice
          field="rules"
          filter={filter}
          options={run.rules.map((each) => [each, rulesText(each)])}
        />
      )}
      {!hidden && (
        <>
          <Choice
            field="result"
            filter={filter}
            options={results.map((each) => [each, t(runs, each)])}
          />
          <Choice
            field="forfeit"
            filter={filter}
            options={FORFEITS.map((each) => [
              each,
              each === "any" ? t(runs, "anyForfeit") : faultText(each),
            ])}
          />
        </>
      )}
      {run.kind === "run" && (
        <Choice
          field="state"
          filter={filter}
          options={[
            ["replay", t(runs, "withReplay")],
            ["waiting", t(runs, "waiting")],
            ["void", t(runs, "void")],
          ]}
        />
      )}
      <Choice
        field="order"
        filter={filter}
        first={t(runs, "earliest")}
        options={[["latest", t(runs, "latest")]]}
      />
      {set && (
        <button type="button" onClick={() => replaceQuery(new URLSearchParams())}>
          {t(runs, "reset")}
        </button>
      )}
    </form>
  );
}

interface ChoiceProps {
  readonly field: Field;
  readonly filter: Filter;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly first?: string;
}

function Choice({ field, filter, options, first }: ChoiceProps) {
  const value = filter[field];
  const known = value === "" || options.some(([each]) => each === value);
  return (
    <label class={value === "" ? "" : "set"}>
      <span>{t(runs, field)}</span>
      <select
        value={value}
        onChange={(event) =>
          replaceQuery(queryOf(changed(filter, field, event.currentTarget.value)))
        }
      >
        <option value="">{first ?? t(runs, "any")}</option>
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
        {!known && <option value={value}>{value}</option>}
      </select>
    </label>
  );
}

/** The filter with one field changed, without those that mean nothing any more. */
export function changed(filter: Filter, field: Field, value: string): Filter {
  const next = { ...filter, [field]: value };
  if (next.entry === "" || next.entry === next.opponent) next.opponent = "";
  if (next.entry === "" && next.result !== "tied") next.result = "";
  return next;
}
