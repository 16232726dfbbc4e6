/** Areas that the page has explained: each once, and never again in this browser. */

import { Area } from "asara/gen/vocabulary_pb.js";
import { remembered } from "../settings.js";

const LIST = /^(\d{1,2}(,\d{1,2})*)?$/;

/** Numbers of the areas, with commas. */
const explained = remembered("explained-areas", "", (text) => (LIST.test(text) ? text : undefined));

/** True until the area has been explained once. */
export function isNew(area: Area): boolean {
  return area !== Area.UNSPECIFIED && !explained.value.split(",").includes(`${area}`);
}

/** Notes that an area has been explained. */
export function noteExplained(area: Area): void {
  if (!isNew(area)) return;
  explained.value = [...explained.value.split(","), `${area}`].filter((n) => n !== "").join(",");
}

/** Lets all areas be explained again. */
export function explainAgain(): void {
  explained.value = "";
}

/** True until an area has been explained: a person who may not know the game. */
export function isNewcomer(): boolean {
  return explained.value === "";
}
