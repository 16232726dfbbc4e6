/** Names and other words that a run contains, which may be anybody's. */

import { Termination } from "asara/gen/event_pb.js";
import { RuleSet } from "asara/gen/vocabulary_pb.js";
import type { ComponentChildren } from "preact";
import { pathOf } from "../router.js";
import { terminationText } from "../words/sentences.js";
import { rulesName } from "../words/vocabulary.js";

interface LinkProps {
  readonly run: string;
  readonly filter: Readonly<Record<string, string>>;
  readonly children: ComponentChildren;
}

/** A link to matches of a run; in a file, which has no other pages, its text alone. */
export function MatchesLink({ run, filter, children }: LinkProps) {
  if (run === "") return <span>{children}</span>;
  const path = `${pathOf({ page: "matches", run })}?${new URLSearchParams(filter)}`;
  return <a href={path}>{children}</a>;
}

/** A name of unknown origin: as text, and its direction does not reach the words around it. */
export function Name({ of }: { of: string }) {
  return <bdi class="name">{of}</bdi>;
}

const RULES: Readonly<Record<string, RuleSet>> = {
  basic: RuleSet.BASIC,
  pro: RuleSet.PROFESSIONAL,
  gifts: RuleSet.GIFTS,
  genie: RuleSet.GENIE,
};

/** The rule sets of a text such as `pro+gifts`, in the current language. */
export function rulesText(text: string): string {
  const found = text.split("+").map((word) => RULES[word]);
  return found.every((each) => each !== undefined) ? rulesName(found) : text;
}

/** The kind of a forfeit, such as `time_out`, in the current language. */
export function faultText(kind: string): string {
  const number = Termination[kind.toUpperCase() as keyof typeof Termination];
  return typeof number === "number" ? terminationText(number) || kind : kind;
}
