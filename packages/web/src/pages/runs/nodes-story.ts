import { plural } from "../../format/number.ts";
import type { NodeView } from "./nodes.ts";
import { type Story, storyOf } from "./words.ts";

type Told = Pick<NodeView, "id" | "title" | "state" | "failure" | "isHandled" | "asks" | "isReused">;

/** What happened in a workflow's run, and why it stopped: by its nodes. */
export function nodesStory(run: Parameters<typeof storyOf>[0], nodes: readonly Told[]): Story {
  const isAt = (...states: readonly NodeView["state"][]) =>
    nodes.filter(({ state }) => states.includes(state));
  const { outcome } = run;
  if (outcome?.status === "completed" && outcome.stop_reason === "answered")
    return { what: `It ran to its end: ${countsOf(nodes)}.` };
  if (outcome?.status === "error" && outcome.failure.code === "node_failed") {
    const failed = isAt("failed").filter(({ isHandled }) => !isHandled);
    const [first] = failed;
    if (first === undefined) return { what: "A node failed.", why: outcome.failure.message };
    const why = first.failure?.message ?? outcome.failure.message;
    const what =
      failed.length === 1
        ? `The node ${first.title} failed.`
        : `${plural(failed.length, "node")} failed: ${listed(failed)}.`;
    return {
      what,
      why:
        failed.length === 1 ? why : failed.map((one) => `${one.title}: ${one.failure?.message}`).join("\n"),
      next: "Retry from it once that is mended: what completed is not run again.",
    };
  }
  if (run.cancel_reason === null && (run.status === "running" || run.status === "waiting")) {
    const waiting = isAt("waiting");
    const working = isAt("running");
    if (waiting.length > 0 && working.length === 0) return { what: `It waits at ${listed(waiting)}.` };
    if (working.length > 0) return { what: `${listed(working)}: under way.`, why: countsOf(nodes) };
  }
  return storyOf(run);
}

const MOST = 4;

function listed(nodes: readonly Told[]): string {
  const names = nodes.slice(0, MOST).map(({ title }) => title);
  return nodes.length > MOST ? `${names.join(", ")} and ${nodes.length - MOST} more` : names.join(", ");
}

/** "6 of 8". */
export function doneOf(nodes: readonly Told[]): string {
  return `${nodes.filter(({ state }) => state === "done").length} of ${nodes.length} done`;
}

/** "6 of 8 nodes done, 2 skipped". */
export function countsOf(nodes: readonly Told[]): string {
  const count = (test: (node: Told) => boolean) => nodes.filter(test).length;
  const parts = [
    `${count(({ state }) => state === "done")} of ${plural(nodes.length, "node")} done`,
    some(
      count(({ isReused, state }) => isReused && state === "done"),
      "of them reused",
    ),
    some(
      count(({ state }) => state === "failed"),
      "failed",
    ),
    some(
      count(({ state }) => state === "skipped"),
      "skipped",
    ),
    some(
      count(({ state }) => state === "stopped"),
      "stopped",
    ),
  ];
  return parts.filter((part) => part !== "").join(", ");
}

const some = (count: number, words: string): string => (count === 0 ? "" : `${count} ${words}`);
