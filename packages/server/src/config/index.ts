export { defineConfig, type Made, type ServerSettings, type TracksideConfig } from "./define-config.ts";
