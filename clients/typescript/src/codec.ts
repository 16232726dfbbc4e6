/** Parses responses and serializes requests. */

import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { concat } from "./bytes.js";
import { AsaraError } from "./errors.js";
import {
  type Decision,
  DecisionSchema,
  PlayRequestSchema,
  type PlayResponse,
  PlayResponseSchema,
} from "./gen/play_pb.js";
import { ViewSchema } from "./gen/view_pb.js";

const DECISION = PlayResponseSchema.field.decision.number;
const VIEW = DecisionSchema.field.view.number;

/**
 * Parses a PlayResponse. The view of a decision, which takes longer than all the rest, is parsed when
 * it is read first.
 *
 * @throws {AsaraError} if the bytes are no such message.
 */
export function decodeResponse(message: Uint8Array): PlayResponse["response"] {
  return parsed(() => {
    const reader = new BinaryReader(message);
    const [field, wireType] = message.length > 0 ? reader.tag() : [];
    if (field === DECISION && wireType === WireType.LengthDelimited) {
      const length = reader.uint32();
      if (reader.pos + length === message.length) {
        return { case: "decision", value: decodeDecision(message.subarray(reader.pos)) };
      }
    }
    return fromBinary(PlayResponseSchema, message).response;
  });
}

/** Serializes a PlayRequest. */
export function encodeRequest(
  request: MessageInitShape<typeof PlayRequestSchema>["request"] & {},
): Uint8Array {
  return toBinary(PlayRequestSchema, create(PlayRequestSchema, { request }));
}

function decodeDecision(bytes: Uint8Array): Decision {
  const reader = new BinaryReader(bytes);
  let start = 0;
  let end = 0;
  let view: Uint8Array | undefined;
  while (reader.pos < reader.len) {
    const fieldStart = reader.pos;
    const [field, wireType] = reader.tag();
    if (field !== VIEW || wireType !== WireType.LengthDelimited) {
      reader.skip(wireType, field);
      continue;
    }
    if (view !== undefined) return fromBinary(DecisionSchema, bytes); // two, which are merged
    view = reader.bytes();
    start = fieldStart;
    end = reader.pos;
  }
  if (view === undefined) return fromBinary(DecisionSchema, bytes);
  const before = bytes.subarray(0, start);
  const rest = end === bytes.length ? before : concat(before, bytes.subarray(end));
  const decision = fromBinary(DecisionSchema, rest);
  Object.defineProperty(decision, VIEW_BYTES, { value: view });
  Object.defineProperty(decision, "view", UNREAD_VIEW);
  return decision;
}

/** Key of a property of decisions: the serialized view. */
const VIEW_BYTES = Symbol("serialized view");

/**
 * The property `view` of a decision until it is used; then it becomes an ordinary one. All decisions
 * share the functions, because V8 makes a hidden class for every new pair.
 */
const UNREAD_VIEW: PropertyDescriptor & ThisType<Decision & { [VIEW_BYTES]: Uint8Array }> = {
  configurable: true,
  enumerable: true,
  get() {
    return setView(
      this,
      parsed(() => fromBinary(ViewSchema, this[VIEW_BYTES])),
    );
  },
  set(value: Decision["view"]) {
    setView(this, value);
  },
};

function setView(decision: Decision, value: Decision["view"]): Decision["view"] {
  Object.defineProperty(decision, "view", { value, writable: true });
  return value;
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof AsaraError) throw error;
    throw new AsaraError(
      `the referee sent a message that cannot be read: ${(error as Error).message}`,
    );
  }
}
