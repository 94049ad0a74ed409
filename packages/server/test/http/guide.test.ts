import { spawn, spawnSync } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openRoom } from "./support/room.ts";

const here = import.meta.dirname;
const guide = await readFile(join(here, "../../../../docs/guides/http-api.md"), "utf8");
const blocks = (language: string) =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(([, code = ""]) => code);

/** How a program ended, and what it said. */
async function ran(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  const child = spawn(command, args, { env, cwd: here });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      said += chunk;
    });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, said };
}

test("the program of the guide runs", async () => {
  const [code = ""] = blocks("ts");
  const file = join(here, `guide-${process.pid}.tmp.ts`);
  await writeFile(file, code);
  try {
    const { code: ended, said } = await ran(process.execPath, ["--conditions=@trackside/source", file]);
    expect(said).toMatch(/\/setup#link=[\w-]{43}/);
    expect(said).toContain("event: status");
    expect(said).toContain("completed 5 tokens");
    expect(ended).toBe(0);
  } finally {
    await rm(file);
  }
});

test.skipIf(spawnSync("curl", ["--version"]).error !== undefined)("its commands work", async () => {
  const room = await openRoom();
  const [commands = ""] = blocks("sh");
  const script = `set -e\n${commands.replace("http://127.0.0.1:4711", room.url).replaceAll("curl -sS", "curl -sS --fail-with-body")}`;
  const env = { PATH: process.env["PATH"], TRACKSIDE_TOKEN: room.tokens.operator };
  const { code, said } = await ran("sh", ["-c", script], env);
  expect(said).toContain('"run_id"');
  expect(code, said).toBe(0);
});
