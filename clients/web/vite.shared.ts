/** Settings that both builds share. */

import { fileURLToPath } from "node:url";
import type { UserConfig } from "vite";

function path(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}

/** Folder of the builds, which the Python package contains. */
export const PAGE = process.env["ASARA_PAGE"] ?? path("../../server/asara_server/page");

/** The page uses the sources of the TypeScript client, and this folder's copy of its library. */
export const shared = {
  root: path("."),
  resolve: {
    alias: [{ find: /^asara\//, replacement: `${path("../typescript/src")}/` }],
    dedupe: ["@bufbuild/protobuf"], // the client's folder need not have it
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
} satisfies UserConfig;
