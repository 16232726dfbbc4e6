/** Builds the page that `asara web` serves, and runs the tests. */

import { defineConfig } from "vitest/config";
import { PAGE, shared } from "./vite.shared.js";

export default defineConfig({
  ...shared,
  base: "/",
  build: {
    outDir: `${PAGE}/app`,
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // no data: addresses, which the content security policy forbids
    target: "es2022",
  },
  server: { fs: { allow: ["../.."] } }, // the client's sources, and matches for the gallery
  test: { setupFiles: ["src/words/all.ts"], include: ["test/**/*.test.{ts,tsx}"] },
});
