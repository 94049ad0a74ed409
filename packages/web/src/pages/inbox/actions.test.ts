import { expect, test } from "vitest";
import { actionsOf, canEdit, canRemember } from "./actions.ts";
import { approval } from "./fixtures.ts";

const labels = (given: Parameters<typeof approval>[0]) =>
  actionsOf(approval(given)).map(({ label, key }) => [label, key]);

test("buttons are verbs with the tool's name; A says yes and D says no", () => {
  expect(labels({})).toEqual([
    ["Approve deploy_service", "a"],
    ["Reject deploy_service", "d"],
  ]);
  expect(labels({ kind: "client_tool", choices: ["submit", "reject"], tool: "pick" })).toEqual([
    ["Send result of pick", "a"],
    ["Reject pick", "d"],
  ]);
  expect(labels({ kind: "elicitation", choices: ["accept", "decline"], tool: "order" })).toEqual([
    ["Answer order", "a"],
    ["Decline order", "d"],
  ]);
});

test("no key runs what cannot be taken back, and its button asks once more", () => {
  const [approve, reject] = actionsOf(approval({ irreversible: true }));
  expect(approve).toMatchObject({ choice: "approve", confirms: true });
  expect(approve?.key).toBeUndefined();
  // To reject runs nothing, and asks for a reason first.
  expect(reject).toMatchObject({ key: "d", asksReason: true, confirms: false });
});

test("L8 of an unknown outcome one gives the result, runs it again after a second word, or gives up", () => {
  const actions = actionsOf(
    approval({ kind: "unknown_outcome", choices: ["ran", "run", "give_up"], tool: "pay" }),
  );
  expect(actions).toMatchObject([
    { choice: "ran", label: "pay ran: send its result", needsResponse: true, confirms: false },
    { choice: "run", label: "Run pay again", needsResponse: false, confirms: true },
    { choice: "give_up", label: "Give up on pay", key: "d", asksReason: true },
  ]);
  expect(actions.filter(({ key }) => key === "a")).toEqual([]);
});

test("a choice nobody has heard of is still offered", () => {
  expect(labels({ kind: "workflow_node", tool: null, choices: ["send_back"] })).toEqual([
    ["Send back this node", undefined],
  ]);
});

test("only a call that is yet to run is edited, and only calls are remembered", () => {
  expect(canEdit(approval())).toBe(true);
  expect(canEdit(approval({ kind: "unknown_outcome", choices: ["ran", "run", "give_up"] }))).toBe(false);
  expect(canRemember(approval())).toBe(true);
  expect(canRemember(approval({ kind: "elicitation" }))).toBe(false);
});
