import assert from "node:assert/strict";
import { test } from "node:test";
import { create, equals, fromBinary, toBinary } from "@bufbuild/protobuf";
import { decodeResponse } from "../src/codec.js";
import { AsaraError } from "../src/errors.js";
import { type Decision, DecisionSchema, PlayResponseSchema } from "../src/gen/play_pb.js";

const DECISION = create(DecisionSchema, {
  matchId: "m1",
  decisionId: 3n,
  legalActions: [{ action: { case: "decline", value: {} } }],
  view: { privateView: { hand: [1, 2] } },
  gifts: [{}],
});

function serialized(decision: Uint8Array): Uint8Array {
  assert.ok(decision.length < 128);
  return Buffer.concat([Buffer.of(0x22, decision.length), decision]);
}

function decoded(message: Uint8Array): Decision {
  const response = decodeResponse(message);
  assert.equal(response.case, "decision");
  return response.value as Decision;
}

test("a decision whose view is parsed late equals one that is parsed at once", () => {
  const bytes = toBinary(DecisionSchema, DECISION);
  const decision = decoded(serialized(bytes));
  assert.deepEqual({ ...decision }, { ...DECISION });
  assert.ok(equals(DecisionSchema, decision, DECISION));
  assert.deepEqual(toBinary(DecisionSchema, decoded(serialized(bytes))), bytes);
  assert.equal(decision.view, decision.view);
  decision.view = undefined;
  assert.equal(decision.view, undefined);
});

test("several views are merged, and a decision may lack one", () => {
  const more = toBinary(DecisionSchema, create(DecisionSchema, { view: { publicView: {} } }));
  const bytes = Buffer.concat([toBinary(DecisionSchema, DECISION), more]);
  const merged = decoded(serialized(bytes));
  assert.ok(equals(DecisionSchema, merged, fromBinary(DecisionSchema, bytes)));
  assert.deepEqual(merged.view?.privateView?.hand, [1, 2]);
  assert.notEqual(merged.view?.publicView, undefined);
  assert.equal(
    decoded(serialized(toBinary(DecisionSchema, create(DecisionSchema)))).view,
    undefined,
  );
});

test("kinds of messages and fields that this version does not know are ignored", () => {
  assert.equal(decodeResponse(new Uint8Array()).case, undefined);
  assert.equal(decodeResponse(Buffer.of(0xfa, 7, 1, 0)).case, undefined);
  const unknown = Buffer.concat([
    serialized(toBinary(DecisionSchema, DECISION)),
    Buffer.of(0xf8, 7, 1),
  ]);
  assert.equal(decoded(unknown).decisionId, 3n);
});

test("a message that cannot be read is an error in one line", () => {
  const message = toBinary(
    PlayResponseSchema,
    create(PlayResponseSchema, { response: { case: "decision", value: DECISION } }),
  );
  for (const broken of [
    message.subarray(0, 5),
    Buffer.of(0x22, 200),
    Buffer.of(0x22, 2, 0x0a, 5),
  ]) {
    assert.throws(
      () => decodeResponse(broken),
      (error) => {
        assert.ok(error instanceof AsaraError);
        assert.match(error.message, /^the referee sent a message that cannot be read: [^\n]+$/);
        return true;
      },
    );
  }
});
