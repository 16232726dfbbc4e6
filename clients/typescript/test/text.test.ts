import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { ActionSchema } from "../src/gen/vocabulary_pb.js";
import { formatAction, parseAction } from "../src/text.js";
import { bytes, hex, vectors } from "./vectors.js";

interface Actions {
  readonly actions: readonly { text: string; hex: string }[];
  readonly unparsable: readonly { text: string; hex: string }[];
  readonly invalid: readonly string[];
}

const VECTORS = vectors<Actions>("actions.json");

test("the text forms of all actions are parsed and formatted", () => {
  assert.ok(VECTORS.actions.length > 100);
  for (const action of VECTORS.actions) {
    assert.equal(formatAction(fromBinary(ActionSchema, bytes(action.hex))), action.text);
    assert.equal(hex(toBinary(ActionSchema, parseAction(action.text))), action.hex, action.text);
  }
});

test("actions of later versions are formatted", () => {
  for (const action of VECTORS.unparsable) {
    assert.equal(formatAction(fromBinary(ActionSchema, bytes(action.hex))), action.text);
    assert.throws(() => parseAction(action.text), SyntaxError);
  }
});

test("texts that are no action in canonical form are refused", () => {
  for (const text of VECTORS.invalid) {
    assert.throws(() => parseAction(text), SyntaxError, text);
  }
});

test("an error names the wrong word and the right ones", () => {
  assert.throws(() => parseAction("take red trnk"), {
    message: "action 'take red trnk': no section kind 'trnk'; one of base, trunk, window, turret",
  });
  assert.throws(() => parseAction("dispatch spies"), {
    message: "action 'dispatch spies': the number of a space is missing",
  });
  assert.throws(() => parseAction("keep white red"), {
    message: "action 'keep white red': not in canonical form; write 'keep red white'",
  });
});
