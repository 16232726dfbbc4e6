/** Writes a message of this package to standard error, as one line. */
export function log(message: string): void {
  process.stderr.write(`asara: ${message}\n`);
}

/** Returns a system error in words, such as `No such file or directory`. */
export function systemError(error: unknown): string {
  const { message } = error as Error;
  // Node's messages have the form "ENOENT: no such file or directory, open 'x'".
  const words = /^[A-Z0-9]+: ([^,]+)/.exec(message)?.[1];
  return words === undefined ? message : words[0]?.toUpperCase() + words.slice(1);
}
