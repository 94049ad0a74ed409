import { spawn } from "node:child_process";
import { serve, text, tool } from "./wire.ts";

/** Ignores every polite way to be told, and has a child that does the same; both carry the mark. */
const DEAF = `for (const s of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(s, () => {}); setInterval(() => {}, 1000);`;

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
spawn(process.execPath, ["-e", DEAF, process.argv[2] ?? ""], { stdio: "inherit" });
setInterval(() => {}, 1000);

serve({ tools: [tool("echo")], calls: { echo: () => text("stubborn") } });
