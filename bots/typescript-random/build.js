// Bundles the bot, the client and gRPC into one file, which starts faster than many.
import { build } from "esbuild";

await build({
  entryPoints: ["src/bot.ts"],
  outfile: "dist/bot.js",
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  conditions: ["asara-source"],
  external: ["@grpc/proto-loader"], // which gRPC needs for its debugging service only
  // For `node --enable-source-maps`: errors name the lines of src.
  sourcemap: true,
  sourcesContent: false,
  // gRPC is written in CommonJS, and calls this function.
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
}).catch(() => process.exit(1)); // esbuild has printed the errors
