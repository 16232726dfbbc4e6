/** A stream of the play service over gRPC. */

import * as grpc from "@grpc/grpc-js";
import { breakReason, type Connection } from "./session.js";

const PLAY = "/asara.v1.PlayService/Play";
const REASON_KEY = "asara-reason"; // in the trailing metadata

const KEEPALIVE_MS = 20_000;
const LARGEST_RESPONSE = 64 * 2 ** 20; // bytes

const CHANNEL_OPTIONS: grpc.ChannelOptions = {
  "grpc.use_local_subchannel_pool": 1, // each attempt really connects; we time the pauses
  "grpc.enable_http_proxy": 0, // http_proxy is often set although the referee is local
  "grpc.enable_retries": 0, // which keeps a copy of every request
  "grpc.service_config_disable_resolution": 1, // which asks DNS for a configuration
  "grpc.max_receive_message_length": LARGEST_RESPONSE,
};
// A connection that is lost silently, as between machines, is detected within 40 s. On a Unix socket
// none is lost silently, and a referee that is stopped for a while keeps its bots.
const KEEPALIVE_OPTIONS: grpc.ChannelOptions = {
  "grpc.keepalive_time_ms": KEEPALIVE_MS,
  "grpc.keepalive_timeout_ms": KEEPALIVE_MS,
};

/** One stream on a connection of its own. */
export class GrpcConnection implements Connection {
  readonly #address: string;
  readonly #client: grpc.Client;
  readonly #call: grpc.ClientDuplexStream<Uint8Array, Buffer>;
  #closed = false;

  /** Dials; without a certificate in `ca`, the connection uses no TLS. */
  constructor(address: string, ca: Buffer | undefined) {
    this.#address = address;
    const credentials =
      ca === undefined ? grpc.credentials.createInsecure() : grpc.credentials.createSsl(ca);
    const remote = !address.startsWith("unix:");
    this.#client = new grpc.Client(address, credentials, {
      ...CHANNEL_OPTIONS,
      ...(remote ? KEEPALIVE_OPTIONS : {}),
    });
    this.#call = this.#client.makeBidiStreamRequest(PLAY, asBuffer, (bytes: Buffer) => bytes);
    this.#call.on("error", () => {}); // `status` has the same information
  }

  send(request: Uint8Array): void {
    if (!this.#closed) this.#call.write(request);
  }

  async run(receive: (response: Buffer) => boolean): Promise<string> {
    const status = await new Promise<grpc.StatusObject | undefined>((resolve) => {
      this.#call.on("data", (response: Buffer) => {
        if (!this.#closed && !receive(response)) resolve(undefined);
      });
      this.#call.on("status", resolve);
    });
    this.#closed = true;
    return status === undefined ? "" : this.#breakReason(status);
  }

  close(): void {
    this.#closed = true;
    this.#call.cancel();
    this.#client.close();
  }

  #breakReason({ code, details, metadata }: grpc.StatusObject): string {
    const reason = String(metadata.get(REASON_KEY)[0] ?? "");
    return breakReason(this.#address, grpc.status[code], reason, details);
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
