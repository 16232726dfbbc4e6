/** Builds the script and the style of the single-file page that `asara replay page` writes. */

import { defineConfig } from "vite";
import { PAGE, shared } from "./vite.shared.js";

export default defineConfig({
  ...shared,
  build: {
    outDir: `${PAGE}/single`,
    emptyOutDir: true,
    copyPublicDir: false,
    cssCodeSplit: false, // one file of its own: otherwise the script would insert the style
    assetsInlineLimit: Number.MAX_SAFE_INTEGER, // the font, as there is no other file
    target: "es2022",
    rolldownOptions: {
      input: "src/single.tsx",
      checks: { emptyImportMeta: false }, // in the code that loads parts: this file has all
      output: { format: "iife", entryFileNames: "page.js", assetFileNames: "page[extname]" },
    },
  },
});
