// One of several processes on one database. It does what it is told, line by line, and answers each line.
import { flushCompileCache } from "node:module";
import { createInterface } from "node:readline";
import { CompiledQuery } from "kysely";
import { type AgentBinding, RunCancelledError, TracksideError } from "trackside";
import { newId, systemClock } from "trackside/engine";
import { Approvals } from "../../../../src/approvals/approvals.ts";
import { findApproval } from "../../../../src/approvals/records.ts";
import { DurableEngine } from "../../../../src/journal/durable-engine.ts";
import { postgres, rows, sqlite } from "../../../../src/store/index.ts";
import { makeAgents } from "./agents.ts";
import type { Command, Got, ProgramInit } from "./protocol.ts";

const init: ProgramInit = JSON.parse(process.argv[2] ?? "");
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
const notice = (message: string) => say({ notice: message });

let armed = false;
let commits = 0;
const freezeAt = (when: "before" | "after") => () => {
  if (!armed || init.freeze?.when !== when) return;
  commits += 1;
  if (commits === init.freeze.n) process.kill(process.pid, "SIGSTOP");
};
const seams = { beforeCommit: freezeAt("before"), afterCommit: freezeAt("after") };
const store =
  init.kind === "sqlite"
    ? sqlite(init.target, { sync: "normal", onNotice: notice }, seams)
    : postgres(init.target, { onNotice: notice }, seams);

const agents = new Map<string, AgentBinding>(makeAgents(init).map((agent) => [agent.definition.name, agent]));
const engine =
  init.role === "desk"
    ? undefined
    : new DurableEngine({
        store,
        agents: [...agents.values()],
        notice,
        claims: init.claims,
        ...(init.leaseMs === undefined ? {} : { leaseMs: init.leaseMs }),
      });
/** Deciding takes a store and nothing else (L4). */
const approvals =
  engine?.approvals ??
  new Approvals({
    store,
    clock: systemClock,
    listener: {},
    checkTool: async () => undefined,
    onClosed: () => {},
  });
await (engine ?? store).open();
say({ ready: process.pid });
flushCompileCache(); // most of these processes are killed, and would leave nothing to the next

async function obey(command: Command): Promise<unknown> {
  switch (command.do) {
    case "start":
      return Promise.all(command.runs.map(start));
    case "result":
      return Promise.all(command.runs.map((id) => resultOf(command.tenant ?? "default", id)));
    case "decide":
      return Promise.all(command.decisions.map((one) => decide(command.tenant ?? "default", one)));
    case "decide-badly":
      return Promise.all(command.decisions.map(decideBadly));
    case "steer":
      return Promise.all(
        command.messages.map(async ({ runId, text, requestId, at }) => {
          await moment(at);
          return settled(needed().steer("default", runId, text, { requestId }));
        }),
      );
    case "cancel":
      return Promise.all(command.runs.map((id) => needed().cancel(id, command.reason)));
    case "fill":
      await fill(command.pages);
      return null;
    case "close":
      await (engine ?? store).close();
      return null;
  }
}

async function fill(pages: number | undefined): Promise<void> {
  await store.write(function* () {
    const { rows: found } = yield CompiledQuery.raw("PRAGMA page_count");
    const [{ page_count }] = found as [{ page_count: number }]; // as the pragma answers
    const most = pages === undefined ? 1_000_000 : page_count + pages;
    yield CompiledQuery.raw(`PRAGMA max_page_count = ${most}`);
  });
}

function needed(): DurableEngine {
  if (engine === undefined) throw new Error("this process has no engine");
  return engine;
}

async function start(run: Extract<Command, { do: "start" }>["runs"][number]): Promise<Got> {
  const agent = agents.get(run.agent);
  if (agent === undefined) throw new Error(`no agent ${run.agent}`);
  await moment(run.at);
  const { requestId, tenant = "default", conversationOf } = run;
  const conversation = conversationOf === undefined ? undefined : await conversationIdOf(conversationOf);
  const options = {
    scope: { tenant },
    ...(requestId === undefined ? {} : { requestId }),
    ...(conversation === undefined ? {} : { conversation }),
  };
  const request = needed().read(agent, run.input, options, false);
  const ids = { runId: newId("run"), turnRef: newId("turn") };
  return settled(
    needed()
      .begin(agent, request, { ...ids, owned: !run.queued, whenBusy: conversation ? "queue" : "refuse" })
      .then(({ runId }) => ({ runId })),
  );
}

async function moment(at: number | undefined): Promise<void> {
  if (at !== undefined) await new Promise((resolve) => setTimeout(resolve, at - Date.now()));
}

async function conversationIdOf(runId: string): Promise<string> {
  const [run] = await store.read((db) =>
    rows(db.selectFrom("runs").select("branch_id").where("id", "=", runId)),
  );
  if (run === undefined) throw new Error(`no run ${runId}`);
  return run.branch_id;
}

async function resultOf(tenant: string, runId: string): Promise<Got> {
  return settled(
    needed()
      .result(tenant, runId)
      .then(({ text, runId: id }) => ({ status: "completed", text, runId: id })),
  );
}

async function decide(
  tenant: string,
  { id, decision, at }: Extract<Command, { do: "decide" }>["decisions"][number],
): Promise<Got> {
  await moment(at);
  return settled(
    approvals.decide(tenant, id, decision).then((made) => ({ state: made.state, by: made.decision?.by })),
  );
}

/** As it must not be done: look, then write. The tests see that they would notice. */
async function decideBadly({
  id,
  decision,
}: Extract<Command, { do: "decide" }>["decisions"][number]): Promise<Got> {
  const before = await store.read((db) => findApproval(db, id));
  if (before?.approval.state !== "pending") return { code: "approval_conflict", message: "too late" };
  const state = decision.choice === "approve" ? "approved" : "rejected";
  await store.write((db) => rows(db.updateTable("approvals").set({ state }).where("id", "=", id)));
  return { state, by: decision.by };
}

async function settled<T extends object>(promise: Promise<T>): Promise<T | Got> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof RunCancelledError) return { status: "cancelled", message: error.message };
    if (error instanceof TracksideError) return { code: error.code, message: error.message };
    return { code: "bug", message: String(error) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  armed = true;
  const { id, ...command }: { id: number } & Command = JSON.parse(line);
  obey(command).then(
    (ok) => {
      say({ id, ok });
      if (command.do === "close") process.exit(0);
    },
    (error: unknown) => say({ id, error: error instanceof Error ? error.stack : String(error) }),
  );
}
