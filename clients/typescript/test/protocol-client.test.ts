import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type Answer, Bot, botFactory } from "../src/bot.js";
import { BotError } from "../src/errors.js";
import type { Event } from "../src/gen/event_pb.js";
import {
  type Decision,
  PlayRequestSchema,
  PlayResponseSchema,
  type Reply,
} from "../src/gen/play_pb.js";
import { nodePlatform } from "../src/node-platform.js";
import { ProtocolClient } from "../src/protocol-client.js";
import { completeSettings } from "../src/settings.js";
import { formatAction } from "../src/text.js";
import { bytes, hex, vectors } from "./vectors.js";

type Response = NonNullable<MessageInitShape<typeof PlayResponseSchema>["response"]>;

const PLATFORM = nodePlatform("");
const SETTINGS = completeSettings({ address: "unix:/x", token: "t", seed: "1" }, {});

/** A client with the replies that it has sent. */
function connected(bot: Parameters<typeof botFactory>[0]) {
  const client = new ProtocolClient(botFactory(bot), SETTINGS, PLATFORM);
  const replies: string[] = [];
  const receive = (response: Response) => {
    const message = toBinary(PlayResponseSchema, create(PlayResponseSchema, { response }));
    client.handle(message, (request) => {
      const { value } = fromBinary(PlayRequestSchema, request).request;
      const { matchId, decisionId, actions } = value as Reply;
      replies.push(`${matchId} ${decisionId} ${actions.map(formatAction).join(", ")}`);
    });
  };
  return { client, replies, receive };
}

function started(matchId: string): Response {
  return { case: "matchStarted", value: { matchId, seats: 2 } };
}

function decision(matchId: string, decisionId: bigint, sequence = 0n): Response {
  const events = Array.from({ length: Number(sequence) }, (_, seat) => ({ seat }));
  const legalActions = [1, 2].map(
    (count) => ({ action: { case: "buildCount", value: { count } } }) as const,
  );
  return { case: "decision", value: { matchId, decisionId, legalActions, sequence, events } };
}

test("the digest covers the messages as received", () => {
  interface Digests {
    readonly messages: readonly { message: string; digest: string }[];
  }
  const digests: string[] = [];
  class Recorder extends Bot {
    decide(decision: Decision): Answer {
      return decision.legalActions.slice(0, 1);
    }
    override ended(): void {
      digests.push(hex(this.match.digest));
    }
  }
  const client = new ProtocolClient(botFactory(Recorder), SETTINGS, PLATFORM);
  const { messages } = vectors<Digests>("digest.json");
  for (const { message } of messages) client.handle(bytes(message), () => {});
  assert.deepEqual(digests, [messages.at(-1)?.digest]);
});

test("a slow decision delays its own match only", async () => {
  let decide: (answer: Answer) => void = () => {};
  const asked: string[] = [];
  const { client, replies, receive } = connected(({ matchId, decisionId, legalActions }) => {
    asked.push(`${matchId} ${decisionId}`);
    const [first] = legalActions;
    if (first === undefined) throw new Error("no legal actions");
    if (matchId === "b") return first;
    return new Promise<Answer>((resolve) => {
      decide = resolve;
    }).then(() => first);
  });
  for (const match of ["a", "b"]) receive(started(match));
  receive(decision("a", 1n));
  receive(decision("a", 1n)); // again, after a reconnection
  receive(decision("b", 1n));
  assert.deepEqual(replies, ["b 1 build 1"]);
  decide([]);
  await client.idle();
  assert.deepEqual(replies, ["b 1 build 1", "a 1 build 1", "a 1 build 1"]);
  assert.deepEqual(asked, ["a 1", "b 1"]);
});

test("events that a reconnection repeats are delivered once", () => {
  const seen: number[] = [];
  class Follower extends Bot {
    decide({ legalActions }: Decision): Answer {
      return legalActions.slice(0, 1);
    }
    override updated(events: readonly Event[]): void {
      seen.push(...events.map(({ seat }) => seat));
    }
  }
  const { replies, receive } = connected(Follower);
  receive(started("a"));
  receive(decision("a", 1n, 2n));
  receive(decision("a", 1n, 2n));
  receive(decision("a", 2n, 3n));
  assert.deepEqual(seen, [0, 1, 2]);
  assert.deepEqual(replies, ["a 1 build 1", "a 1 build 1", "a 2 build 1"]);
});

test("an answer that is no action is an error with its decision", async () => {
  for (const [answer, text] of [
    [undefined, "decide returned undefined for decision 1 of a; return one of"],
    [[], "decide returned an empty list for decision 1 of a; return one of"],
    [
      1,
      "decide returned 1 for decision 1 of a; return the action itself: decision.legalActions[1]",
    ],
    [{}, "decide returned an object that is no action for decision 1 of a; return one of"],
  ] as const) {
    const { client, receive } = connected((() => answer) as unknown as () => Answer);
    receive(started("a"));
    receive(decision("a", 1n));
    await assert.rejects(client.failed, (error: Error) => {
      assert.ok(error instanceof BotError);
      assert.ok(error.message.startsWith(text), error.message);
      return true;
    });
  }
});

test("an error of the author's code is passed on, its stack with the decision", async () => {
  for (const decide of [
    (error: Error) => {
      throw error;
    },
    async (error: Error) => {
      throw error;
    },
  ]) {
    const error = new Error("mine");
    const { client, receive } = connected(() => decide(error));
    receive(started("a"));
    receive(decision("a", 1n));
    await assert.rejects(client.failed, (found) => found === error);
    assert.match(
      error.stack ?? "",
      /^Error: mine\n.*\nError: mine\nin a, decision 1 \(\w+\) at .+:\d+/s,
    );
  }
});

test("what cannot play is refused", () => {
  class Empty {}
  assert.throws(
    () =>
      botFactory(
        new (class Mine extends Bot {
          decide() {
            return [];
          }
        })() as never,
      ),
    /pass the class Mine, not an instance/,
  );
  assert.throws(() => botFactory(Empty as never), /Empty must be a subclass of Bot/);
  assert.throws(() => botFactory(7 as never), /not number; write `run\(decide\)`/);
});
