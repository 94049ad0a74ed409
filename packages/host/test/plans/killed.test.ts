import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent } from "trackside";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { keyring, sqlite, type Trackside } from "../../src/index.ts";
import { agentOf, hostOn } from "../agents/support/host.ts";
import { until } from "../engine/support/until.ts";
import { rolesModel, stepIn } from "./support/planner.ts";

vi.setConfig({ testTimeout: 120_000 });

const PROGRAM = fileURLToPath(new URL("./support/working-process.ts", import.meta.url));
const ANN = { by: "ann" };

/** One that looks and asks, and works on nothing itself. */
function onlooker(file: string): Trackside {
  return hostOn(sqlite(file, { sync: "normal" }), {
    keyring: keyring({ current: "k1", keys: { k1: Buffer.alloc(32, 7) } }),
    claims: false,
    agents: [new Agent({ name: "coded", model: rolesModel(() => "never asked") })],
    models: { "demo:works": rolesModel(() => "never asked") },
  });
}

/** Works until it is killed at its n-th write; with 0 until the test stops it. */
function work(
  file: string,
  n: number,
  agent: readonly string[],
): { readonly gone: Promise<void>; kill(): void } {
  const child = spawn(
    process.execPath,
    [
      "--conditions=@trackside/source",
      "--disable-warning=ExperimentalWarning",
      PROGRAM,
      file,
      String(n),
      ...agent,
    ],
    { stdio: ["ignore", "inherit", "inherit"] },
  );
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const kill = () => void child.kill("SIGKILL");
  onTestFinished(async () => {
    kill();
    await gone;
  });
  return { gone, kill };
}

for (const name of ["clerk", "coded"])
  test(`W2 whoever works a plan may be killed at any write: the next goes on, and no step is done twice (${name === "coded" ? "in code" : "stored"})`, async () => {
    const file = join(temporaryFolder("plans"), "trackside.db");
    const here = onlooker(file);
    if (name === "clerk")
      await here.agents.create(
        { definition: agentOf("clerk", { model: "demo:works" }), autonomous_mode: true },
        ANN,
      );
    const steps = [
      { id: "a", title: "Collect", criteria: "Yes." },
      { id: "b", title: "Count" },
      { id: "c", title: "Report", depends_on: ["a", "b"], criteria: "Yes." },
    ];
    const { id } = await here.plans.create(name, { goal: "g", steps }, ANN);
    // Nobody has to ask for the plan of an autonomous agent.
    const wanted = name === "coded" ? [name] : [];
    for (const n of name === "clerk" ? [11, 16, 23, 0] : [14, 0]) {
      const worker = work(file, n, wanted);
      const done = until(async () => ((await here.plans.get(id)).state === "completed" ? true : undefined));
      await Promise.race([worker.gone, done]);
      if (n === 0) await done;
      worker.kill();
      await worker.gone;
    }
    const plan = await here.plans.get(id);
    expect(plan.state).toBe("completed");
    for (const step of plan.steps) expect(step).toMatchObject({ state: "completed", attempt: 1 });
    expect(stepIn(plan, "c")).toMatchObject({ output: "did Report", verification: { verdict: "passed" } });
    // Three steps and two verifications, each one run and no more.
    const runs = await here.runs.list({ limit: 100 });
    expect(runs.map(({ status }) => status)).toEqual(Array(5).fill("completed"));
    expect((await here.plans.board(name)).work.state).toBe("idle");
  });
