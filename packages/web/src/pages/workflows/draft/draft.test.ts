import { expect, test } from "vitest";
import { afterWords, freePort, named } from "./adding.ts";
import { refusal } from "./connecting.ts";
import { type Definition, edgeFrom, edgeId, edgesOf } from "./definition.ts";
import { type Draft, type Edit, edited, idsFor, pieceOf } from "./edit.ts";
import { Graph } from "./graph.ts";
import { type History, historyOf, stepped } from "./history.ts";
import { laidOut, placesOf } from "./layout.ts";
import { freeId, newNode } from "./new-node.ts";
import { renamedIn } from "./references.ts";
import { neighbour } from "./walking.ts";
import { conditionWords, summaryOf } from "./words.ts";

const DEPLOY: Definition = {
  name: "deploy",
  nodes: {
    check: { kind: "tool", tool: "run_checks", arguments: { service: "{{ input.service }}" } },
    ok: { kind: "condition", if: { left: "{{ nodes.check.passed }}", op: "==", right: true } },
    ask: { kind: "approval", message: "Deploy {{ input.service }}? {{ nodes.check.summary }}" },
    ship: {
      kind: "tool",
      tool: "deploy",
      arguments: { service: "{{ input.service }}", notes: ["{{ nodes.check }}"] },
    },
  },
  edges: [
    { from: "check", to: "ok" },
    { from: "ok", to: "ask", when: "true" },
    { from: "ask", to: "ship" },
  ],
  output: { shipped: "{{ nodes.ship }}", checked: "{{ nodes.check.summary? }}" },
};

const draft = (definition: Definition = DEPLOY): Draft => ({ definition, unread: {} });
const after = (...edits: readonly Edit[]): Draft => edits.reduce(edited, draft());

test("a field that is set changes nothing beside it, and takes what was unread there away", () => {
  const broken = edited(draft(), {
    type: "unread",
    path: ["nodes", "check", "arguments"],
    unread: { text: "{", message: "is no JSON" },
  });
  expect(broken.definition).toBe(DEPLOY);
  const next = edited(broken, {
    type: "set",
    path: ["nodes", "check", "arguments"],
    value: { service: "a" },
  });
  expect(next.unread).toEqual({});
  expect(next.definition.nodes["check"]).toEqual({
    kind: "tool",
    tool: "run_checks",
    arguments: { service: "a" },
  });
  expect(next.definition.nodes["ok"]).toBe(DEPLOY.nodes["ok"]);
});

test("undefined takes a field away, also an entry of a list", () => {
  const without = after({ type: "set", path: ["nodes", "ship", "arguments", "notes", 0], value: undefined });
  expect(without.definition.nodes["ship"]).toMatchObject({ arguments: { notes: [] } });
  expect("output" in after({ type: "set", path: ["output"], value: undefined }).definition).toBe(false);
});

test("removing a node removes its edges; removing nothing changes nothing", () => {
  const next = after({ type: "remove", nodes: ["ask"], edges: [] }).definition;
  expect(Object.keys(next.nodes)).toEqual(["check", "ok", "ship"]);
  expect(edgesOf(next).map(edgeId)).toEqual(["check|out|ok"]);
  const same = draft();
  expect(edited(same, { type: "remove", nodes: ["nobody"], edges: ["no|out|edge"] })).toBe(same);
});

test("a rename reaches edges and every template, and no other text", () => {
  const { definition } = after(
    { type: "set", path: ["nodes", "ask", "message"], value: "check: {{ nodes.check.a }} {{nodes.checked}}" },
    { type: "rename", from: "check", to: "verify-1" },
  );
  expect(Object.keys(definition.nodes)).toEqual(["verify-1", "ok", "ask", "ship"]);
  expect(edgesOf(definition)[0]).toEqual({ from: "verify-1", to: "ok" });
  expect(definition.nodes["ask"]).toMatchObject({
    message: "check: {{ nodes.verify-1.a }} {{nodes.checked}}",
  });
  expect(definition.nodes["ship"]).toMatchObject({ arguments: { notes: ["{{ nodes.verify-1 }}"] } });
  expect(definition.output).toEqual({
    shipped: "{{ nodes.ship }}",
    checked: "{{ nodes.verify-1.summary? }}",
  });
  // A name that is taken is refused.
  const same = draft();
  expect(edited(same, { type: "rename", from: "check", to: "ok" })).toBe(same);
});

test("a value without the reference stays the same object", () => {
  const value = { a: ["{{ input.x }}", { b: "nodes.check" }] };
  expect(renamedIn(value, { check: "other" })).toBe(value);
  // One may get a name that another had.
  expect(renamedIn("{{ nodes.a }} {{ nodes.b }}", { a: "b", b: "c" })).toBe("{{ nodes.b }} {{ nodes.c }}");
  expect(renamedIn('{{ nodes["a-b"].x }}', { "a-b": "c" })).toBe('{{ nodes["c"].x }}');
});

test("a pasted piece has names of its own and refers to itself", () => {
  const piece = pieceOf(DEPLOY, ["check", "ok"]);
  expect(piece.edges).toHaveLength(1);
  const ids = idsFor(DEPLOY, piece);
  expect(ids).toEqual({ check: "check-2", ok: "ok-2" });
  const { definition } = after({ type: "paste", piece, ids, by: { x: 16, y: 16 } });
  expect(definition.nodes["ok-2"]).toMatchObject({ if: { left: "{{ nodes.check-2.passed }}" } });
  expect(edgesOf(definition).map(edgeId)).toContain("check-2|out|ok-2");
  expect(definition.nodes["ok"]).toBe(DEPLOY.nodes["ok"]);
});

test("W4 connections that cannot be are refused with the reason", () => {
  expect(refusal(DEPLOY, "ship", "out", "check")).toContain("check → ok → ask → ship → check");
  expect(refusal(DEPLOY, "check", "out", "check")).toContain("after itself");
  expect(refusal(DEPLOY, "check", "true", "ship")).toContain("it has then, failed");
  expect(refusal(DEPLOY, "ok", "out", "ship")).toContain("it has true, false, failed");
  expect(refusal(DEPLOY, "ask", "out", "ship")).toContain("already leads");
  expect(refusal(DEPLOY, "ask", "rejected", "ship")).toBeUndefined();
  expect(refusal(DEPLOY, "check", "failed", "ship")).toBeUndefined();
});

test("upstream is everything that ran before, the nearest first", () => {
  expect(new Graph(DEPLOY).upstream("ship")).toEqual(["ask", "ok", "check"]);
  expect(new Graph(DEPLOY).way("ship", "check")).toBeUndefined();
});

const typed = (history: History, value: string, at: number, path = ["nodes", "ask", "message"]): History =>
  stepped(history, { type: "edit", edit: { type: "set", path, value }, at });

test("typing is one step until there is a pause or another field; undo and redo go both ways", () => {
  let history = historyOf(draft());
  for (const [at, text] of ["D", "De", "Dep"].entries()) history = typed(history, text, at * 100);
  history = typed(history, "Later", 5_000);
  history = typed(history, "2", 5_001, ["description"]);
  expect(history.past).toHaveLength(3);
  history = stepped(stepped(history, { type: "undo" }), { type: "undo" });
  expect(history.present.definition.nodes["ask"]).toMatchObject({ message: "Dep" });
  history = stepped(history, { type: "undo" });
  expect(history.present.definition).toBe(DEPLOY);
  expect(stepped(history, { type: "undo" })).toBe(history);
  history = stepped(history, { type: "redo" });
  expect(history.present.definition.nodes["ask"]).toMatchObject({ message: "Dep" });
  // Something new forgets what was taken back.
  expect(typed(history, "x", 9_000).future).toEqual([]);
});

test("what changes nothing is no step", () => {
  const history = historyOf(draft());
  const edit: Edit = { type: "connect", edge: edgeFrom("check", "out", "ok") };
  expect(stepped(history, { type: "edit", edit, at: 0 })).toBe(history);
});

test("a layout goes left to right and covers nothing; what has a place keeps it", () => {
  const places = laidOut(DEPLOY);
  const at = (id: string) => places[id] ?? { x: Number.NaN, y: Number.NaN };
  expect(at("check").x).toBeLessThan(at("ok").x);
  expect(at("ok").x).toBeLessThan(at("ask").x);
  expect(at("ask").x).toBeLessThan(at("ship").x);
  // Ways out are listed from the top, and so are the nodes they lead to.
  const both = after(
    { type: "add", id: "no", node: newNode("wait", { x: 0, y: 0 }), edge: edgeFrom("ok", "false", "no") },
    {
      type: "add",
      id: "held",
      node: newNode("wait", { x: 0, y: 0 }),
      edge: edgeFrom("ask", "rejected", "held"),
    },
  ).definition;
  const placed = laidOut(both);
  expect(placed["ask"]?.y).toBeLessThan(placed["no"]?.y ?? 0);
  expect(placed["ship"]?.y).toBeLessThan(placed["held"]?.y ?? 0);
  const some = after({ type: "move", to: { check: { x: 400, y: 96 } } }).definition;
  expect(placesOf(some)["check"]).toEqual({ x: 400, y: 96 });
  expect(placesOf(some)["ok"]?.y).toBeGreaterThan(96);
});

test("arrows follow edges, and go up and down in a column", () => {
  const definition = after({
    type: "add",
    id: "other",
    node: newNode("wait", { x: 0, y: 0 }),
    edge: edgeFrom("ok", "false", "other"),
  }).definition;
  const places = laidOut(definition);
  expect(neighbour(definition, places, undefined, "right")).toBe("check");
  expect(neighbour(definition, places, "check", "right")).toBe("ok");
  expect(neighbour(definition, places, "ship", "left")).toBe("ask");
  expect(neighbour(definition, places, "ship", "right")).toBeUndefined();
  const up = (places["ask"]?.y ?? 0) > (places["other"]?.y ?? 0);
  expect(neighbour(definition, places, "ask", up ? "up" : "down")).toBe("other");
});

test("new nodes get ids that are free and fit", () => {
  expect(freeId({}, "Deploy the service!")).toBe("Deploy-the-service");
  expect(freeId(DEPLOY.nodes, "ask")).toBe("ask-2");
  expect(freeId({ ...DEPLOY.nodes, "ask-2": newNode("wait", { x: 0, y: 0 }) }, "ask-2")).toBe("ask-3");
  expect(freeId({}, "42")).toBe("node");
});

test("what is added after a node takes the first way out that leads nowhere yet", () => {
  const ok = DEPLOY.nodes["ok"] ?? newNode("wait", { x: 0, y: 0 });
  expect(freePort(DEPLOY, "ok", ok)).toBe("false");
  expect(afterWords(DEPLOY, "ok", "false")).toBe("It comes after ok, when false.");
  expect(freePort(DEPLOY, "ship", newNode("tool", { x: 0, y: 0 }))).toBe("out");
  expect(named(newNode("tool", { x: 0, y: 0 }), "deploy")).toMatchObject({ kind: "tool", tool: "deploy" });
});

test("a node is told in a line", () => {
  const of = (id: string) => summaryOf(DEPLOY.nodes[id] ?? newNode("wait", { x: 0, y: 0 }));
  expect(of("ok")).toBe("nodes.check.passed == true");
  expect(of("ask")).toBe("Deploy {{ input.service }}? {{ nodes.check.summary }}");
  expect(of("none")).toBe("for 1 min");
  expect(
    conditionWords({
      any: [
        { not: { left: "{{ input.a }}", op: "empty" } },
        {
          all: [
            { left: 1, op: "<", right: 2 },
            { left: "{{ input.b }}", op: "exists" },
          ],
        },
      ],
    }),
  ).toBe("not input.a is empty or (1 < 2 and input.b is there)");
});
