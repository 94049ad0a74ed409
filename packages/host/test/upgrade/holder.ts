// A process of a recording: it brings runs to the places where they are held, says so, and is killed there.
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { ToolFile } from "trackside";
import { postgres, sqlite } from "../../src/index.ts";
import { hostOf } from "./cast.ts";
import type { Kind, Manifest } from "./fixture.ts";
import { LOST, OPENED, type Scenario } from "./scenarios.ts";
import { call, type Script, script } from "./world.ts";

export interface HolderInit {
  readonly kind: Kind;
  readonly target: string;
  readonly effects: string;
  readonly holds: string;
  readonly behind: number;
  /** The first process is killed in tools with an effect that happens once; the second takes up its runs. */
  readonly act: "lost" | "opened";
}

/** What a holder says when everything is in its place. */
export interface Held {
  /** The runs it started, by name. */
  readonly runs: Readonly<Record<string, string>>;
  readonly access?: Manifest["access"];
  readonly plans?: Manifest["plans"];
}

const ANN = { by: "ann" };
const PASSWORD = "seven brittle kettles";

const init: HolderInit = JSON.parse(process.argv[2] ?? "");
const { kind, target, act, ...rest } = init;
const { trackside, world } = hostOf({
  ...rest,
  store: kind === "sqlite" ? sqlite(target) : postgres(target),
  ...(act === "opened" ? { without: "stamp" } : {}),
});
const { runs, approvals, conversations, agents, workflows, plans, access } = trackside;
const started: Record<string, string> = {};
await trackside.open();
const held: Held = act === "lost" ? await lose() : await openAll();
process.stdout.write(`${JSON.stringify(held)}\n`);
setInterval(() => {}, 1_000); // until it is killed

async function lose(): Promise<Held> {
  await startAll(LOST);
  return { runs: started };
}

async function openAll(): Promise<Held> {
  await until(async () => (await approvals.list()).length === LOST.length);
  await until(async () => (await runs.list({ status: "parked" })).length === 1);
  await startAll(OPENED);
  await talk();
  await cancelled();
  await remembered();
  await definitions();
  const said = { runs: started, access: await people(), plans: await planned() };
  await flows();
  await until(() => world.held().includes("task hooked"));
  return said;
}

async function startAll(scenarios: readonly Scenario[]): Promise<void> {
  const talks: Record<string, string> = {};
  for (const { agent, tenant = "default", after, stops, ...one } of scenarios) {
    const { name } = one;
    const conversation = after === undefined ? {} : { conversation: talks[after] ?? "" };
    const options = { requestId: name, scope: { tenant }, ...conversation };
    const run = await trackside.start(agent, scriptOf(one), options);
    started[name] = run.runId;
    talks[name] = run.conversationId;
    if (stops === "ended") await run.result().catch(() => {}); // the facts say how it ended
    if (stops === "held") await until(() => world.held().includes(one.heldAt ?? name));
    const pending = one.pending ?? (stops === "asks" ? 1 : 0);
    await until(async () => (await approvals.list({ tenant, rootRunId: run.runId })).length === pending);
  }
}

function scriptOf({ name, steps, plan }: Script): string {
  return script({ name, steps, ...(plan === undefined ? {} : { plan }) });
}

/** A branch with a turn of its own, a run retried from a step, a file, an erased and an imported conversation. */
async function talk(): Promise<void> {
  const { conversation_id: id } = await runs.get(started["answered"] ?? "");
  const messages = await conversations.messages(id);
  const answer = messages.find(
    (one) => one.role === "assistant" && JSON.stringify(one).includes('"text":"answered"'),
  );
  const branch = await conversations.branch(id, { at: answer?.id ?? "" });
  const turn = await conversations.send(branch.id, script({ name: "branched", steps: ["on the branch"] }));
  await turn.result();
  started["branched"] = turn.runId;
  const again = await runs.retry(started["answered"] ?? "", { fromStep: 3 });
  await runs.result(again.id);
  started["retried"] = again.id;
  await trackside.artifacts.add(
    id,
    new ToolFile({ name: "a.txt", mediaType: "text/plain", data: Buffer.from("a file") }),
  );
  const gone = await trackside.run("clerk", script({ name: "erased", steps: ["to be erased"] }));
  await conversations.delete(gone.conversation.id);
  await conversations.import(await conversations.export(branch.id));
}

async function cancelled(): Promise<void> {
  const steps = [call("pay", "cancelled", "before"), "never"];
  const run = await trackside.start("clerk", script({ name: "cancelled", steps }));
  await until(() => world.held().includes("cancelled"));
  await runs.cancel(run.runId, { reason: "enough" });
  await run.result().catch(() => {}); // cancelled, as it is to be
  started["cancelled"] = run.runId;
}

async function remembered(): Promise<void> {
  for (const name of ["remembered", "remembered-again"]) {
    const run = await trackside.start(
      "gated",
      script({ name, steps: [call("charge", "remembered"), "charged"] }),
    );
    started[name] = run.runId;
    if (name === "remembered") {
      const id = await until(async () => (await approvals.list({ runId: run.runId }))[0]?.id);
      await approvals.decide(id, { choice: "approve", ...ANN, remember: {} });
    }
    await run.result();
  }
}

async function people(): Promise<Manifest["access"]> {
  const link = await access.setupLink();
  await access.finishSetup(link?.secret ?? "", { name: "ann", password: PASSWORD });
  const bob = await access.users.create({ name: "bob", role: "operator", password: PASSWORD }, ANN);
  const cara = await access.users.create({ name: "cara", role: "approver" }, ANN);
  await access.users.update(cara.id, { disabled: true }, ANN);
  const { secret: token } = await access.tokens.create({ user: bob.id, name: "ci", role: "viewer" }, ANN);
  const revoked = await access.tokens.create({ user: bob.id, name: "old" }, ANN);
  await access.tokens.revoke(revoked.token.id, ANN);
  const signedIn = await access.signIn({ name: "bob", password: PASSWORD });
  if ("failed" in signedIn) throw new Error(signedIn.failed);
  await access.signIn({ name: "bob", password: "wrong" });
  await trackside.providers.setKey("openai", "sk-of-the-fixture", ANN);
  await trackside.providers.setBaseUrl("openai", "http://127.0.0.1:11434/v1", ANN);
  await trackside.secrets.set("acme", "crm", "a secret of acme");
  return { session: signedIn.secret, token, password: PASSWORD };
}

/** Stored agents and workflows: with versions, with runs that keep an older one, and deleted with an open run. */
async function definitions(): Promise<void> {
  const agent = (name: string, instructions: string) => ({
    definition: { name, instructions, model: "demo:script", tools: ["pay", "save", "look"] },
  });
  for (const name of ["stored", "deleted"]) {
    await agents.create(agent(name, "first"), ANN);
    const steps = [call("save", `${name}-held`, "before"), call("pay", `${name}-held`), "by a stored agent"];
    const { runId } = await trackside.start(name, script({ name: `${name}-held`, steps }));
    started[`${name}-held`] = runId;
    await until(() => world.held().includes(`${name}-held`));
  }
  await agents.save("stored", agent("stored", "second"), { ...ANN, version: 1, note: "better" });
  await agents.delete("deleted", ANN);

  const workflow = (message: string) => ({
    name: "refund",
    nodes: {
      ask: { kind: "approval", message, deadline_seconds: null },
      pay: { kind: "tool", tool: "pay", arguments: { name: "{{ input.name }}" } },
      note: { kind: "tool", tool: "save", arguments: { name: "{{ input.name }}" } },
      agent: { kind: "agent", agent: "stored", prompt: "{{ input.prompt }}" },
    },
    edges: [
      { from: "ask", to: "pay" },
      { from: "ask", to: "note", when: "rejected" },
      { from: "pay", to: "agent" },
    ],
    output: { paid: "{{ nodes.pay? }}", noted: "{{ nodes.note? }}", said: "{{ nodes.agent? }}" },
  });
  await workflows.create(workflow("Refund?"), ANN);
  for (const name of ["refund-approve", "refund-reject", "refund-decided"]) {
    const prompt = script({ name, steps: ["refunded"] });
    const { runId } = await workflows.start("refund", { name, prompt }, { requestId: name });
    started[name] = runId;
    await until(async () => (await approvals.list({ runId }))[0]);
  }
  await workflows.save("refund", workflow("Refund now?"), { ...ANN, version: 1 });
}

/** A plan that is half run, one that was only written and edited, and one that is done. */
async function planned(): Promise<Manifest["plans"]> {
  const step = (id: string, title: string, more: object = {}) => ({ id, title, ...more });
  const done = await plans.create("railed", { goal: "small", steps: [step("a", "All")] }, ANN);
  await plans.run(done.id, ANN);
  await until(async () => (await plans.get(done.id)).state === "completed");
  const steps = [
    step("a", "First", { criteria: "It is there." }),
    step("b", "Hold the second", { depends_on: ["a"], criteria: "It is there." }),
    step("c", "Third", { depends_on: ["b"] }),
  ];
  const half = await plans.create("clerk", { goal: "large", steps }, ANN);
  await plans.run(half.id, ANN);
  await until(() => world.held().includes("Hold the second"));
  const draft = await plans.create("stored", { goal: "draft", steps: [step("a", "Once")] }, ANN);
  const edited = { goal: "draft", steps: [step("a", "Once"), step("b", "Twice", { depends_on: ["a"] })] };
  await plans.save(draft.id, edited, { ...ANN, version: draft.version });
  return { half: half.id, draft: draft.id, done: done.id };
}

/** A workflow in code that is in the middle of everything a workflow can do. */
async function flows(): Promise<void> {
  const scripts = [
    script({ name: "flow-1", steps: ["first"] }),
    script({ name: "flow-2", steps: [call("save", "flow-2", "before"), "second"] }),
  ];
  const { runId } = await workflows.start("flow", { name: "flow", scripts, pays: ["flow-a", "flow-b"] });
  started["flow"] = runId;
  for (const name of ["flow-2", "flow-again", "flow-inside"]) await until(() => world.held().includes(name));
  await until(async () => (await approvals.list({ runId })).length === 2);
  await until(() => world.effects().some(({ name }) => name === "flow-b"));
  const retrying = { type: "node", node: "again", state: "retrying" };
  await until(async () =>
    (await runs.events(runId)).some((event) => isDeepStrictEqual({ ...event, ...retrying }, event)),
  );
}

async function until<T>(look: () => Promise<T | undefined | false> | T | undefined | false): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await sleep(20);
  }
}
