/** Stands at addresses at which there is nothing. */

import { t } from "../words/language.js";
import { runs } from "../words/sections/runs.js";
import { Frame } from "./frame.js";

export function NowherePage() {
  return (
    <Frame title={t(runs, "notFound")}>
      <p>
        <a href="/">{t(runs, "toRuns")}</a>
      </p>
    </Frame>
  );
}
