import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ConfigurationError } from "../src/errors.js";
import { completeSettings, type Options } from "../src/settings.js";

const GIVEN = { ASARA_ADDRESS: "unix:/run/referee", ASARA_TOKEN: "secret" };

function refused(
  message: string,
  environment: Record<string, string>,
  options: Options = {},
): void {
  assert.throws(
    () => completeSettings(options, environment),
    (error) => {
      assert.ok(error instanceof ConfigurationError);
      assert.equal(error.exitStatus, 2);
      assert.equal(error.message, message);
      return true;
    },
  );
}

test("settings come from the environment, and options take precedence", () => {
  const environment = {
    ...GIVEN,
    ASARA_SEAT: "1",
    ASARA_SEED: "7",
    ASARA_PATIENCE_S: "2.5",
  };
  const read = completeSettings({}, environment);
  assert.deepEqual(
    [read.address, read.token, read.seat, read.seed, read.patienceS, read.maxMatches],
    ["unix:/run/referee", "secret", 1, "7", 2.5, 1],
  );
  const given = completeSettings(
    { address: "[::1]:1", seat: 0, seed: 0, patienceS: 0 },
    environment,
  );
  assert.deepEqual(
    [given.address, given.seat, given.seed, given.patienceS],
    ["[::1]:1", 0, "0", 0],
  );
  assert.equal(completeSettings({}, GIVEN).patienceS, 30);
});

test("a setting that is missing or invalid is named, with the remedy", () => {
  const remedy =
    "start this bot with `asara match`, or set ASARA_ADDRESS (host:port or unix:/path) and ASARA_TOKEN";
  refused(`ASARA_ADDRESS and ASARA_TOKEN are not set: ${remedy}`, {});
  refused(`ASARA_TOKEN is not set: ${remedy}`, { ASARA_ADDRESS: "a:1" });
  refused("ASARA_ADDRESS is 'localhost': expected host:port or unix:/path", {
    ...GIVEN,
    ASARA_ADDRESS: "localhost",
  });
  refused("ASARA_SEAT is '-1': expected a seat number", { ...GIVEN, ASARA_SEAT: "-1" });
  for (const text of ["soon", "1e3", "-1", "1."]) {
    refused(`ASARA_PATIENCE_S is '${text}': expected seconds, such as 30 or 0.5`, {
      ...GIVEN,
      ASARA_PATIENCE_S: text,
    });
  }
  refused("maxMatches is 0: expected 1 or more", GIVEN, { maxMatches: 0 });
  refused("patienceS is -1: expected 0 or more", GIVEN, { patienceS: -1 });
});

test("files are checked before the referee is dialled", () => {
  const folder = mkdtempSync(join(tmpdir(), "asara-"));
  try {
    const missing = join(folder, "missing.pem");
    refused(
      `ASARA_CA: cannot read '${missing}' (No such file or directory); expected ` +
        "the certificate of the authority that signed the referee's certificate",
      { ...GIVEN, ASARA_CA: missing },
    );
    const file = join(folder, "file");
    writeFileSync(file, "no certificate");
    refused(`ASARA_CA: '${file}' contains no PEM certificate`, { ...GIVEN, ASARA_CA: file });
    refused(
      `ASARA_TRANSCRIPT: cannot create the folder '${file}/x' (Not a directory); ` +
        "choose a writable one",
      { ...GIVEN, ASARA_TRANSCRIPT: `${file}/x` },
    );
    refused(
      "a transcript is asked for, but the sandbox of this bot is deleted with everything in it; " +
        "play with --sandbox none, or without the transcript",
      { ...GIVEN, ASARA_TRANSCRIPT: folder, ASARA_CONTAINED: "1" },
    );
    completeSettings({ transcript: join(folder, "a", "b") }, GIVEN);
    assert.ok(statSync(join(folder, "a", "b")).isDirectory());
  } finally {
    rmSync(folder, { recursive: true });
  }
});
