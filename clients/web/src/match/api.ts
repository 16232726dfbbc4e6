/** Requests to the page's own server. */

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

/** Returns true if the server refused a request in words of its own. */
export function isRefusal(error: unknown): error is ServerError {
  return error instanceof ServerError && error.status > 0;
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

function unreadable(response: Response): ServerError {
  return new ServerError(response.status, "The server sent an answer that cannot be read.");
}

function statusText({ status, statusText: text }: Response): string {
  return `The server answered with status ${status}${text === "" ? "" : ` (${text})`}.`;
}
