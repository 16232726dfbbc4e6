/** Parses responses and serializes requests. */

import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
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
  return readable(() => {
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
  const rest = Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
  const decision = fromBinary(DecisionSchema, rest);
  defineView(decision, view);
  return decision;
}

/** Gives a decision the property `view`, which becomes an ordinary one as soon as it is used. */
function defineView(decision: Decision, bytes: Uint8Array): void {
  const define = (value: Decision["view"]) => {
    Object.defineProperty(decision, "view", { value, writable: true });
    return value;
  };
  Object.defineProperty(decision, "view", {
    configurable: true,
    enumerable: true,
    get: () => define(readable(() => fromBinary(ViewSchema, bytes))),
    set: define,
  });
}

function readable<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof AsaraError) throw error;
    throw new AsaraError(
      `the referee sent a message that cannot be read: ${(error as Error).message}`,
    );
  }
}
