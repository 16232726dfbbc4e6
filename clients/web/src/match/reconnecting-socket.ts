/** A WebSocket of the page's own server that is opened again whenever it breaks. */

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
const FIRST_STATUS = 4_000; // close code of gRPC status 0
const LAST_STATUS = 16;
/** gRPC statuses after which a new connection may help. */
const RETRYABLE: ReadonlySet<number> = new Set([1, 2, 4, 8, 13, 14]);
/** Stands for a text: this server sends none, and no message can be read from it. */
const UNREADABLE = Uint8Array.of(0xff);

/** How the server ended a connection. */
export interface Ending {
  /** The gRPC status. */
  readonly status: number;
  /** True if a new connection may help. */
  readonly retryable: boolean;
  /** The reason for programs, such as `replaced`; empty for an ordinary end. */
  readonly reason: string;
  /** Text of the server, in English. */
  readonly detail: string;
}

/** What follows an ending: nothing, a new connection, or one after the longest pause. */
export type Next = "over" | "again" | "later";

export interface SocketHandler {
  /** Returns the first message of a connection. */
  hello(): Uint8Array<ArrayBuffer>;
  received(message: Uint8Array): void;
  /** Called when the server ended the connection; after "over" nothing is called any more. */
  ended(ending: Ending): Next;
  /** Called when a connection broke that will be tried again. */
  broke(): void;
}

/** Returns the ending that a close code means; undefined if the connection broke. */
export function endingOf(code: number, text: string): Ending | undefined {
  const status = code - FIRST_STATUS;
  if (status < 0 || status > LAST_STATUS) return undefined;
  const [, reason = "", detail = text] = /^([a-z-]+): (.*)$/s.exec(text) ?? [];
  return { status, retryable: RETRYABLE.has(status), reason, detail };
}

/** Returns the address of a socket of the page's own server. */
export function socketUrl(path: string): string {
  const url = new URL(path, location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.hash = "";
  return url.href;
}

/** A connection that is kept open until `close`, or until the handler says that it is over. */
export class ReconnectingSocket {
  readonly #url: string;
  #socket: WebSocket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pause = FIRST_PAUSE_MS;
  #closed = false;

  /** `path` may have a query. */
  constructor(
    path: string,
    private readonly handler: SocketHandler,
  ) {
    this.#url = socketUrl(path);
    this.#connect();
  }

  /** Sends a message, which is lost if there is no connection. */
  send(message: Uint8Array<ArrayBuffer>): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(message);
  }

  /** Ends the connection; nothing is called any more afterwards. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket?.close(1000);
  }

  #connect(): void {
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => socket.send(this.handler.hello());
    socket.onmessage = ({ data }) => {
      if (this.#closed) return;
      this.#pause = FIRST_PAUSE_MS;
      this.handler.received(data instanceof ArrayBuffer ? new Uint8Array(data) : UNREADABLE);
    };
    socket.onclose = ({ code, reason }) => {
      if (this.#closed) return;
      const ending = endingOf(code, reason);
      const next = ending === undefined ? "again" : this.handler.ended(ending);
      if (next === "over") this.#closed = true;
      else this.#connectLater(next);
    };
  }

  #connectLater(next: Next): void {
    this.handler.broke();
    if (this.#closed) return;
    if (next === "later") this.#pause = LONGEST_PAUSE_MS;
    this.#timer = setTimeout(() => this.#connect(), this.#pause * (0.5 + Math.random() / 2));
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE_MS);
  }
}
