import { Agent } from "trackside";
import { scriptedModel } from "trackside/testing";
import { expect, test } from "vitest";
import { openRoom } from "./support/room.ts";

const parent = new Agent({
  name: "parent",
  model: scriptedModel(
    [
      ({ prompt }) => {
        const last = prompt.at(-1);
        if (last?.role === "tool") return "Both are done.";
        if (JSON.stringify(last).includes("Look")) return "I looked.";
        return {
          calls: [
            { tool: "spawn_parallel", args: { jobs: [{ task: "Look left" }, { task: "Look right" }] } },
          ],
        };
      },
    ],
    { loop: true },
  ),
  allowParallelSubagents: true,
});

test("E4 events of a tree come in pages that lose nothing, and a reader who has all of them is told so", async () => {
  const room = await openRoom({ host: { agents: [parent] } });
  const client = room.client("operator");
  const { run_id: id } = await client.startRun({ body: { agent: "parent", input: "Go" } });
  await room.trackside.runs.result(id);

  const all = await client.listEvents({ params: { id }, query: { children: "true" } });
  expect(new Set(all.items.map((event) => event.run_id)).size).toBe(3);
  for (const limit of [1, 3, 7]) {
    const paged: unknown[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const page: typeof all = await client.listEvents({
        params: { id },
        query: { after, limit, children: "true" },
      });
      paged.push(...page.items);
      after = page.next;
    }
    expect(paged).toEqual(all.items);
  }

  const text = await (await client.streamRun({ params: { id } })).text();
  const last = [...text.matchAll(/^id: (.+)$/gm)].at(-1)?.[1] ?? "";
  const stream = (cursor: string) =>
    room.send(`/runs/${id}/stream`, { as: "operator", headers: { "last-event-id": cursor } });
  expect((await stream(last)).status).toBe(204);
  const before = await stream("1");
  expect(before.status).toBe(200);
  expect(await before.text()).toContain("event: status");
});
