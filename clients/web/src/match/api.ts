/** Requests to the page's own server. */

import { type DescMessage, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import {
  type PreviewRequest,
  PreviewRequestSchema,
  type PreviewResponse,
  PreviewResponseSchema,
} from "asara/gen/preview_pb.js";
import { type ReplayView, ReplayViewSchema } from "asara/gen/replay_view_pb.js";
import type { Viewer } from "./model.js";

/** The server refused a request, or did not answer; the message is one sentence for people. */
export class ServerError extends Error {
  override name = "ServerError";
  /** HTTP status; 0 if there was no answer. */
  readonly status: number;

  constructor(status: number, sentence: string) {
    super(sentence);
    this.status = status;
  }
}

/** Returns the path of a run in the API. */
export function runPath(run: string): string {
  return `/api/runs/${encodeURIComponent(run)}`;
}

/** Returns the path of a match in the API. */
export function matchPath(run: string, match: string): string {
  return `${runPath(run)}/matches/${encodeURIComponent(match)}`;
}

/** Returns a viewer as the API names it. */
export function viewerName(viewer: Viewer): string {
  return viewer.kind === "seat" ? `seat-${viewer.seat}` : viewer.kind;
}

/**
 * Returns the answer to a request.
 *
 * @throws {ServerError} if it is an error or does not come; an aborted request throws as `fetch`.
 */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(new URL(path, location.href), init);
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    throw new ServerError(0, "The server does not answer.");
  }
  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => undefined);
  const sentence = (body as { error?: unknown } | null | undefined)?.error;
  const known = typeof sentence === "string" && sentence !== "";
  throw new ServerError(response.status, known ? sentence : statusText(response));
}

/** Returns the JSON of an answer, whose type the caller knows; throws as `request` does. */
export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const headers = { accept: "application/json" };
  const response = await request(path, signal === undefined ? { headers } : { headers, signal });
  try {
    return (await response.json()) as T;
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    throw unreadable(response);
  }
}

/** Returns a finished match as a viewer may see it; throws as `request` does. */
export async function fetchView(run: string, match: string, viewer: Viewer): Promise<ReplayView> {
  const response = await request(`${matchPath(run, match)}/view?viewer=${viewerName(viewer)}`);
  return readMessage(ReplayViewSchema, response);
}

/** Returns the signed file of a finished match; throws as `request` does. */
export async function fetchReplay(run: string, match: string): Promise<Uint8Array<ArrayBuffer>> {
  return readBytes(await request(`${matchPath(run, match)}/replay`));
}

/** Returns what follows from a person's actions; throws as `request` does. */
export async function fetchPreview(asked: PreviewRequest): Promise<PreviewResponse> {
  const body = toBinary(PreviewRequestSchema, asked) as Uint8Array<ArrayBuffer>;
  const headers = { "content-type": "application/x-protobuf" };
  const response = await request("/api/preview", { method: "POST", headers, body });
  return readMessage(PreviewResponseSchema, response);
}

async function readMessage<Desc extends DescMessage>(
  schema: Desc,
  response: Response,
): Promise<MessageShape<Desc>> {
  const bytes = await readBytes(response);
  try {
    return fromBinary(schema, bytes);
  } catch {
    throw unreadable(response);
  }
}

async function readBytes(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await response.arrayBuffer());
  } catch {
    throw new ServerError(0, "The answer of the server was cut off.");
  }
}

function unreadable(response: Response): ServerError {
  return new ServerError(response.status, "The server sent an answer that cannot be read.");
}

function statusText({ status, statusText: text }: Response): string {
  return `The server answered with status ${status}${text === "" ? "" : ` (${text})`}.`;
}
