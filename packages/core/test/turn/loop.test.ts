import { runTurn, type TurnState } from "trackside/loop";
import { fakeWorld } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { agentDefinition } from "../../src/schema/index.ts";

const definition = agentDefinition.parse({ name: "a", model: "openai:x", max_steps: 3 });
const nobody = { points: [], pre_hooks: false, post_hooks: false, held_by: [], servers: false, team: {} };
const agent = { definition, ...nobody };
const turn = { run_id: "r", turn_ref: "t", log: 0, message_id: "r.user" };
const call = (index: number) => ({ id: `r.main.1.${index}`, index, tool: "t" });

describe("the loop over a fake world", () => {
  test("X1 asks for effects under structural keys and for nothing else", async () => {
    const world = fakeWorld({
      model: ({ step }) =>
        step === 1 ? { message_id: "m1", calls: [call(0), call(1)] } : { message_id: "m2", has_text: true },
    });
    const state = await runTurn(agent, turn, world);
    expect(world.asked).toEqual(["1/model/1", "1/0/tool/1", "1/1/tool/1", "2/model/1"]);
    expect(state.outcome).toEqual({ status: "completed", stop_reason: "answered", message_id: "m2" });
  });

  test("X1 a point nobody listens on is not asked for", async () => {
    const world = fakeWorld({ model: () => ({ message_id: "m1" }) });
    await runTurn({ ...agent, points: ["START", "ERROR"] }, turn, world);
    expect(world.asked).toEqual(["start/1", "1/model/1"]);
  });

  test("X1 starts again from the state of any step boundary, as small JSON, and ends the same", async () => {
    const answers = {
      model: ({ step }: { step: number }) =>
        step < 3 ? { message_id: `m${step}`, calls: [call(0)] } : { message_id: "m3", has_text: true },
    };
    const states: string[] = [];
    const whole = fakeWorld({
      ...answers,
      boundary: (state) => {
        states.push(JSON.stringify(state));
        return { inbox: [] };
      },
    });
    const ended = await runTurn(agent, turn, whole);
    expect(states).toHaveLength(3);
    for (const [i, text] of states.entries()) {
      expect(text.length).toBeLessThan(1000);
      const from: TurnState = JSON.parse(text);
      const resumed = fakeWorld(answers);
      expect(await runTurn(agent, turn, resumed, from)).toEqual(ended);
      expect(resumed.asked[0]).toBe(`${i + 1}/model/1`);
    }
  });

  test("X1 holds no transcript: its state does not grow with the conversation", async () => {
    const sizes: number[] = [];
    const world = fakeWorld({
      model: ({ step }) =>
        step < 200 ? { message_id: `m${step}`, calls: [call(0)] } : { message_id: "end" },
      boundary: (state) => {
        sizes.push(JSON.stringify(state).length);
        return { inbox: [] };
      },
    });
    const long = { ...agent, definition: { ...definition, max_steps: 500 } };
    await runTurn(long, turn, world);
    expect((sizes.at(-1) ?? 0) - (sizes[0] ?? 0)).toBeLessThan(20);
  });

  test("X8 waits between attempts on the world's clock", async () => {
    let attempts = 0;
    const failure = { code: "model_failed" as const, message: "busy" };
    const world = fakeWorld({
      model: ({ choice, tries }) => {
        attempts += 1;
        return attempts < 3
          ? { failure, again: { choice, tries: tries + 1, in_ms: 1000 } }
          : { message_id: "m" };
      },
    });
    const running = runTurn(agent, turn, world);
    await world.clock.advance(999);
    expect(attempts).toBe(1);
    await world.clock.advance(1001);
    expect((await running).outcome?.status).toBe("completed");
    expect(world.asked).toEqual(["1/model/1", "1/wait/1", "1/model/2", "1/wait/2", "1/model/3"]);
  });

  test("X5 a cancel at a boundary ends the turn without another effect", async () => {
    const world = fakeWorld({
      model: () => ({ message_id: "m", calls: [call(0)] }),
      boundary: ({ step }) => ({ inbox: [], ...(step === 1 ? { cancelled: "stop" } : {}) }),
    });
    const state = await runTurn(agent, turn, world);
    expect(state.outcome).toEqual({ status: "cancelled", reason: "stop" });
    expect(world.asked).toEqual(["1/model/1", "1/0/tool/1"]);
    expect(world.notes.at(-1)).toEqual({ type: "status", status: "cancelled", reason: "stop" });
  });

  test("R9 a fatal call stops its siblings; results are logged in call order all the same", async () => {
    const fatal = { code: "hook_failed" as const, message: "no" };
    const world = fakeWorld({
      model: () => ({ message_id: "m", calls: [call(0), call(1)] }),
      tool: ({ call: { index, id } }) => ({ message_id: `${id}.r`, ...(index === 1 ? { fatal } : {}) }),
    });
    const state = await runTurn(agent, turn, world);
    expect(world.cancels).toEqual(["1/"]);
    expect(state.outcome).toEqual({ status: "error", failure: fatal });
    const logged = world.notes.flatMap((note) => (note.type === "logged" ? [note.message_ids] : []));
    expect(logged).toEqual([["r.user"], ["m"], ["r.main.1.0.r", "r.main.1.1.r"]]);
  });

  test("E2 FINISHED and ERROR: exactly one fires, and a failure at FINISHED fires no ERROR", async () => {
    const points = ["FINISHED" as const, "ERROR" as const];
    const fired: string[] = [];
    const fatal = { code: "hook_failed" as const, message: "no" };
    const world = fakeWorld({
      model: () => ({ message_id: "m" }),
      dispatch: ({ point }) => {
        fired.push(point);
        return { fatal };
      },
    });
    const state = await runTurn({ ...agent, points }, turn, world);
    expect(fired).toEqual(["FINISHED"]);
    expect(state.outcome?.status).toBe("error");
    expect(world.notes.filter((note) => note.type === "status").map((note) => note.status)).toEqual([
      "starting",
      "error",
    ]);
  });
});
