import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { docsPages } from "./docs-pages.js";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("."),
  base: "./",
  plugins: [docsPages()],
  resolve: {
    // A browser draws charts on documents of its own.
    alias: { "linkedom/worker": here("src/view/browser-document.ts") },
  },
  worker: { format: "es" },
  build: { outDir: here("dist"), emptyOutDir: true, target: "es2022" },
  server: { host: "127.0.0.1" },
  preview: { host: "127.0.0.1" },
});
