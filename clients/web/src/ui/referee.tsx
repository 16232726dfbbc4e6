/** What the referee wrote about a match or an entry, which is English on every page. */

import { t } from "../words/language.js";
import { common } from "../words/sections/common.js";

/** The referee's words as a quotation, behind what the page says in the reader's language. */
export function Referee({ words }: { words: string }) {
  if (words === "") return null;
  return (
    <>
      {t(common, "referee")} <Quoted words={words} />
    </>
  );
}

export function Quoted({ words }: { words: string }) {
  return (
    <q>
      <bdi lang="en">{words}</bdi>
    </q>
  );
}
