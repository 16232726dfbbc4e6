import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { getJson, isRefusal, matchPath, request, ServerError } from "../../src/match/api.js";
import { socketUrl } from "../../src/match/reconnecting-socket.js";
import { sampleFile } from "../samples.js";

const REPLAY = sampleFile("basic-2.asara");
let server: Server;
let origin = "";
const asked: string[] = [];

beforeAll(async () => {
  server = createServer(({ url = "" }, response) => {
    asked.push(url);
    const answer = ANSWERS.find(([path]) => url.startsWith(path));
    if (answer?.[0] === "/cut") {
      response.writeHead(200, { "content-length": "100" }).write("x");
      response.destroy();
      return;
    }
    response.writeHead(answer?.[1] ?? 404).end(answer?.[2]);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  vi.stubGlobal("location", { href: `${origin}/runs/cup#moment-3` });
});
afterEach(() => asked.splice(0));
afterAll(() => {
  vi.unstubAllGlobals();
  server.close();
});

const ANSWERS: readonly (readonly [string, number, (string | Uint8Array)?])[] = [
  ["/api/runs/cup/matches/m%2F1/replay", 200, REPLAY],
  ["/json", 200, '{"runs": []}'],
  ["/garbage", 200, "<html>"],
  ["/sentence", 404, '{"error": "there is no run"}'],
  ["/proxy", 502, "<html>Bad gateway</html>"],
  ["/null", 500, "null"],
  ["/cut", 200],
];

test("the answer of the server comes as it is, or as the JSON in it", async () => {
  const response = await request(`${matchPath("cup", "m/1")}/replay`);
  expect(asked).toEqual(["/api/runs/cup/matches/m%2F1/replay"]);
  expect(new Uint8Array(await response.arrayBuffer())).toEqual(REPLAY);
  expect(await getJson("/json")).toEqual({ runs: [] });
});

test.each([
  ["/sentence", 404, "there is no run"],
  ["/proxy", 502, "The server answered with status 502 (Bad Gateway)."],
  ["/null", 500, "The server answered with status 500 (Internal Server Error)."],
  ["/garbage", 200, "The server sent an answer that cannot be read."],
])("%s is an error with status %i and a sentence", async (path, status, sentence) => {
  const error = await getJson(path).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(ServerError);
  expect(error).toMatchObject({ status, message: sentence });
  expect(isRefusal(error)).toBe(true);
});

test("an answer that is cut off or never comes is an error with a sentence", async () => {
  await expect(getJson("/cut")).rejects.toThrow(ServerError);
  vi.stubGlobal("location", { href: "http://127.0.0.1:1/" });
  const lost = request("/json");
  vi.stubGlobal("location", { href: origin });
  await expect(lost).rejects.toMatchObject({ status: 0, message: "The server does not answer." });
  expect(isRefusal(await lost.catch((error: unknown) => error))).toBe(false);
});

test("an aborted request is no error of the server", async () => {
  await expect(getJson("/json", AbortSignal.abort())).rejects.toMatchObject({ name: "AbortError" });
});

test("names of runs and matches are escaped, and sockets belong to the page's server", () => {
  expect(matchPath("../x", "a?b#c")).toBe("/api/runs/..%2Fx/matches/a%3Fb%23c");
  expect(socketUrl("/ws/play")).toBe(`${origin.replace("http", "ws")}/ws/play`);
  vi.stubGlobal("location", { href: "https://cup.example.org/runs/a#b" });
  expect(socketUrl("/ws/watch?run=a")).toBe("wss://cup.example.org/ws/watch?run=a");
  vi.stubGlobal("location", { href: origin });
});
