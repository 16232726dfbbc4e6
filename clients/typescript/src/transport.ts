/** Finds out why a connection fails: TLS at one end only, which gRPC reports in other words. */

import * as net from "node:net";
import * as tls from "node:tls";

const TIMEOUT_MS = 2_000;
const EMPTY_SETTINGS = [0, 0, 0, 4, 0, 0, 0, 0, 0];
const HTTP2_PREFACE = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from(EMPTY_SETTINGS),
]);
const SETTINGS = 4; // the first frame of every HTTP/2 server (RFC 9113, 3.4)

/**
 * Returns the fault and its remedy if the server at `address` uses TLS and this bot does not, or
 * vice versa. Returns "" in all other cases, as if nothing listens there. Nothing secret is sent.
 */
export async function transportFault(address: string, secure: boolean): Promise<string> {
  if (address.startsWith("unix:")) return "";
  const colon = address.lastIndexOf(":");
  const host = address.slice(0, colon).replace(/^\[|\]$/g, "");
  const port = Number(address.slice(colon + 1));
  if (port > 65_535) return "";
  if (secure && (await answersWithoutTls(host, port))) {
    return (
      `the referee at ${address} uses no TLS, and ASARA_CA is set: ` +
      "unset ASARA_CA, or check ASARA_ADDRESS"
    );
  }
  if (!secure && (await answersWithTls(host, port))) {
    return (
      `the referee at ${address} uses TLS, and ASARA_CA is not set: set it to the ` +
      "file of the referee's certificate, which its organiser gives you"
    );
  }
  return "";
}

function answersWithoutTls(host: string, port: number): Promise<boolean> {
  const socket = net.connect({ host, port });
  return outcome(socket, (settle) => {
    let frame = Buffer.alloc(0);
    socket.once("connect", () => socket.write(HTTP2_PREFACE));
    socket.on("data", (chunk: Buffer) => {
      frame = Buffer.concat([frame, chunk]);
      if (frame.length >= 4) settle(frame[3] === SETTINGS);
    });
  });
}

function answersWithTls(host: string, port: number): Promise<boolean> {
  // Nothing is sent over this connection, so no certificate is needed.
  const socket = tls.connect({ host, port, rejectUnauthorized: false });
  return outcome(socket, (settle) => socket.once("secureConnect", () => settle(true)));
}

/** Returns what `listen` settles, or false when the connection ends or takes too long. */
async function outcome(
  socket: net.Socket,
  listen: (settle: (answer: boolean) => void) => void,
): Promise<boolean> {
  try {
    return await new Promise<boolean>((resolve) => {
      for (const event of ["error", "close", "timeout"]) socket.on(event, () => resolve(false));
      socket.setTimeout(TIMEOUT_MS);
      listen(resolve);
    });
  } finally {
    socket.destroy();
  }
}
