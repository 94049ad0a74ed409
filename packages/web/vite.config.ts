import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defaultClientConditions, defineConfig } from "vite";

const SERVER = "http://127.0.0.1:4711";

export default defineConfig({
  root: import.meta.dirname,
  base: "/",
  plugins: [react(), tailwindcss()],
  resolve: { conditions: ["@trackside/source", ...defaultClientConditions] },
  server: {
    host: "127.0.0.1",
    proxy: { "/api": SERVER, "/v1": SERVER },
  },
  build: {
    outDir: "dist",
    // light-dark() is what the colours are written in, so browsers that lack it are left out (2024 and older).
    target: ["chrome123", "edge123", "firefox120", "safari17.5"],
    assetsDir: "assets",
    // The policy of the server forbids data: URLs for everything but images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What every page needs changes rarely, so a release leaves it in the browser's cache.
          groups: [
            { name: "react", test: /node_modules\/(react|react-dom|scheduler)\// },
            { name: "tanstack", test: /node_modules\/@tanstack\/(?!react-virtual|virtual-core)/ },
          ],
        },
      },
    },
  },
});
