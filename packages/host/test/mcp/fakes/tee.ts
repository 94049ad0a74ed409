import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { stateFile } from "./wire.ts";

/** Stands before another server, `node tee.ts <mark> <log> <command> [args]`, and writes down what the client says. */
const [command = "", ...args] = process.argv.slice(4);
const server = spawn(command, args, { stdio: ["pipe", "inherit", "ignore"] });

createInterface({ input: process.stdin })
  .on("line", (line) => {
    appendFileSync(stateFile, `${line}\n`);
    server.stdin.write(`${line}\n`);
  })
  .on("close", () => server.stdin.end());
server.on("exit", (code) => process.exit(code ?? 1));
