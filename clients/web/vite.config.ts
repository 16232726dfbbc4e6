/** Builds the page that `asara web` serves, and runs the tests. */

import { brotliCompressSync } from "node:zlib";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { PAGE, shared } from "./vite.shared.js";

/** Writes a compressed copy beside each script and style, for the server to send. */
const compressed: Plugin = {
  name: "compressed",
  apply: "build",
  generateBundle: {
    order: "post",
    handler(_, bundle) {
      for (const [fileName, file] of Object.entries(bundle)) {
        if (!/\.(js|css)$/.test(fileName)) continue;
        const source = brotliCompressSync(file.type === "chunk" ? file.code : file.source);
        this.emitFile({ type: "asset", fileName: `${fileName}.br`, source });
      }
    },
  },
};

export default defineConfig({
  ...shared,
  plugins: [compressed],
  base: "/",
  build: {
    outDir: `${PAGE}/app`,
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // no data: addresses, which the content security policy forbids
    target: "es2022",
    rolldownOptions: { checks: { pluginTimings: false } }, // compression takes its two seconds
  },
  server: { fs: { allow: ["../.."] } }, // the client's sources, and matches for the gallery
  test: {
    setupFiles: ["src/words/all.ts"],
    include: ["test/**/*.test.{ts,tsx}"],
    testTimeout: 600_000, // only for what hangs: the machine may be busy
  },
});
