import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { Client } from "pg";
import { RUN_FOLDER } from "../testing/run-folder.ts";
import { keeperSocket, type SharedAddress, type SharedName } from "./keeper.ts";
import type { Missing } from "./service.ts";

/**
 * Servers that all test files of a run share: each starts when a file first asks for it and stops after the last file. A
 * test that kills, stops or configures its server starts one of its own.
 */
export interface SharedPostgres {
  readonly url: string;
  /** Creates a database, empty or as a copy of the database at `template`, which must have no connections. Returns its URL. */
  createDatabase(template?: string): Promise<string>;
}

export async function sharedPostgres(): Promise<SharedPostgres | Missing> {
  const found = await shared("postgres");
  return "missing" in found
    ? found
    : { ...found, createDatabase: (template) => createDatabase(found.url, template) };
}

/** A browser for `chromium.connect` of Playwright. Each test file sees only the contexts it opened. */
export const sharedChromium = () => shared("chromium");

/** Keys and channels are shared too: tests use a prefix of their own. */
export const sharedRedis = () => shared("redis");

/** Task queues and workflow ids are shared too: tests use names of their own. */
export const sharedTemporal = () => shared("temporal");

async function shared<N extends SharedName>(name: N): Promise<SharedAddress<N> | Missing> {
  const folder = process.env[RUN_FOLDER];
  if (folder === undefined)
    throw new Error(`shared services exist only in a test run: ${RUN_FOLDER} is not set`);
  const socket = connect(keeperSocket(folder));
  socket.write(`${name}\n`);
  const answer: { address?: SharedAddress<N>; missing?: string; error?: string } = JSON.parse(
    await text(socket),
  );
  if (answer.address !== undefined) return answer.address;
  if (answer.missing !== undefined) return { missing: answer.missing };
  throw new Error(answer.error);
}

async function createDatabase(server: string, template: string | undefined): Promise<string> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  const source = template === undefined ? "" : ` template "${new URL(template).pathname.slice(1)}"`;
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(`create database "${name}"${source}`);
  } finally {
    await client.end();
  }
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
