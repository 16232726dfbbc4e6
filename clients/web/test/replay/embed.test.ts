import { expect, test } from "vitest";
import { readCommand } from "../../src/replay/embed.js";

test.each([
  [{ asara: 1, type: "play" }, { type: "play" }],
  [{ asara: 1, type: "pause" }, { type: "pause" }],
  [{ asara: 1, type: "subscribe" }, { type: "subscribe" }],
  [
    { asara: 1, type: "goTo", moment: 12 },
    { type: "goTo", link: { kind: "moment", moment: 12 } },
  ],
  [
    { asara: 1, type: "goTo", link: "#seat-0-decision-3" },
    { type: "goTo", link: { kind: "decision", seat: 0, decision: 3 } },
  ],
])("%j is a command", (message, command) => {
  expect(readCommand(message)).toEqual(command);
});

test.each([
  [undefined],
  [null],
  ["play"],
  [[1, "play"]],
  [{ type: "play" }],
  [{ asara: 2, type: "play" }],
  [{ asara: 1, type: "play", moment: 3 }],
  [{ asara: 1, type: "goTo" }],
  [{ asara: 1, type: "goTo", moment: -1 }],
  [{ asara: 1, type: "goTo", moment: 1.5 }],
  [{ asara: 1, type: "goTo", moment: "3" }],
  [{ asara: 1, type: "goTo", link: "javascript:alert(1)" }],
  [{ asara: 1, type: "toString" }],
])("%j is not", (message) => {
  expect(readCommand(message)).toBeUndefined();
});
