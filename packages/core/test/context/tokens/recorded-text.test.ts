import { existsSync, readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import type { SizedTool } from "../../../src/context/tool-declarations.ts";
import { TokenCounter } from "../../../src/local/token-counter.ts";
import type { Json, JsonObject } from "../../../src/schema/json.ts";
import type { Message } from "../../../src/schema/message.ts";

// The requests of `recorded/` with their words, which lie beside a checkout, never in it.
const CORPORA =
  process.env.TRACKSIDE_CORPORA ?? resolve(import.meta.dirname, "../../../../../../shared/corpora");
const FOLDER = resolve(CORPORA, "requests");
const missing = !existsSync(FOLDER);
if (missing) console.log("skipped: no recorded requests in ../shared/corpora/requests");

type Part =
  | { type: "text"; text: string }
  | { type: "tool_call"; tool: string; arguments: JsonObject; sig?: number };
type Said = { role: "user" | "assistant"; parts: Part[] } | { role: "tool"; text?: string; json?: Json };
interface Recording {
  model: string;
  reported: number;
  system: string;
  tools: SizedTool[];
  messages: Said[];
}

describe.skipIf(missing)("B6 recorded requests, word for word", () => {
  it.each(missing ? [] : readdirSync(FOLDER))("B6 %s: within a tenth of what was reported", async (name) => {
    const { model, reported, system, tools, messages }: Recording = JSON.parse(
      readFileSync(resolve(FOLDER, name), "utf8"),
    );
    const counter = new TokenCounter(model);
    await counter.ready();
    let tokens = counter.request({ system, tools });
    for (const said of messages) tokens += counter.message(messageOf(said));
    expect(Math.abs(tokens - reported)).toBeLessThanOrEqual(Math.max(8, reported * 0.1));
  });
});

function messageOf(said: Said): Message {
  if (said.role === "tool") {
    const metadata = {} as Extract<Message, { role: "tool" }>["metadata"]; // never sent, so it has no size
    const output =
      said.text === undefined
        ? ({ type: "json", value: said.json ?? null } as const)
        : ({ type: "text", value: said.text } as const);
    return { id: "m", role: "tool", call_id: "c", wire_id: "c", tool: "", output, metadata };
  }
  const parts = said.parts.map((part) => {
    if (part.type === "text") return part;
    const { sig = 0, ...call } = part;
    const provider = sig === 0 ? {} : { provider: { google: { thoughtSignature: "s".repeat(sig) } } };
    return { ...call, call_id: "c", wire_id: "c", ...provider };
  });
  return { id: "m", role: said.role, parts } as Message; // users call no tools, in recordings either
}
