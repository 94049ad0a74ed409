import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Tool } from "trackside";
import type { ServerDefinition } from "trackside/engine";
import { expect, type TestContext, vi } from "vitest";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import { McpHub, type McpHubOptions } from "../../../src/mcp/index.ts";
import { type Watched, type WatchOptions, watched } from "./context.ts";
import { processesWith } from "./processes.ts";

const FAKES = join(import.meta.dirname, "..", "fakes");

/** Long enough for an honest server on a slow machine. Tests that wait for a deadline shorten the one they mean. */
const PATIENT = { connectMs: 30_000, idleMs: 60_000, totalMs: 60_000 };

/**
 * Where one test happens: a hub, the servers it starts, and files of theirs. When the test is over the hub is closed
 * and nothing may be left; that nothing was rejected unheard vitest sees to by itself.
 */
export class Place {
  /** An argument of every server started here, which finds it among the processes. */
  readonly mark = `mark-${randomUUID()}`;
  readonly hub: McpHub;
  readonly #directory = temporaryFolder("mcp");

  constructor({ onTestFinished }: Pick<TestContext, "onTestFinished">, options: McpHubOptions = {}) {
    this.hub = new McpHub({ keepMs: 600_000, ...options, deadlines: { ...PATIENT, ...options.deadlines } });
    onTestFinished(async () => {
      await this.hub.close();
      await this.noProcesses();
    });
  }

  file(name: string): string {
    return join(this.#directory, name);
  }

  /** What was written to a file, in lines; nothing if nobody wrote. */
  lines(name: string): string[] {
    const path = this.file(name);
    return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
  }

  /** One of the servers in `fakes/`; what stands after the mark is up to the fake. */
  fake(fake: string, name = fake, ...args: string[]): ServerDefinition {
    return { name, command: process.execPath, args: [join(FAKES, `${fake}.ts`), this.mark, ...args] };
  }

  connect(...servers: ServerDefinition[]): Promise<Session> {
    return this.connectAs("t", ...servers);
  }

  async connectAs(tenant: string, ...servers: ServerDefinition[]): Promise<Session> {
    return new Session(await this.hub.connect(servers, { agent: "agent", scope: { tenant } }));
  }

  /** Ends when no process with the mark is left; a signal takes a moment to do its work. */
  async noProcesses(): Promise<void> {
    await vi.waitFor(() => expect(processesWith(this.mark)).toEqual([]), { timeout: 50_000, interval: 50 });
  }
}

type Connected = Awaited<ReturnType<McpHub["connect"]>>;

/** What a run would hold: the tools, called as an engine calls them. */
export class Session {
  readonly connected: Connected;

  constructor(connected: Connected) {
    this.connected = connected;
  }

  get names(): string[] {
    return this.connected.tools.map(({ name }) => name);
  }

  tool(name: string): Tool {
    const found = this.connected.tools.find((tool) => tool.name === `mcp__${name}`);
    if (found === undefined) throw new Error(`no tool mcp__${name} among ${this.names.join(", ")}`);
    return found;
  }

  /** Starts a call and answers it with what can be done to it meanwhile. */
  start(name: string, args: object = {}, options: WatchOptions = {}): Call {
    const watching = watched(options);
    const result = (async () => this.tool(name).run(args, watching.context))();
    // Whoever cancels may not be listening to what comes of it.
    result.catch(() => undefined);
    return { ...watching, result };
  }

  call(name: string, args: object = {}, options: WatchOptions = {}): Promise<unknown> {
    return this.start(name, args, options).result;
  }
}

export interface Call extends Watched {
  readonly result: Promise<unknown>;
}
