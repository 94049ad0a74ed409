import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { estimating, type Sizer, sizeFixedPart, sizeMessage } from "../../../src/context/estimate.ts";
import { familyOf, type ModelFamily } from "../../../src/context/model-family.ts";
import { declareTools, type SizedTool } from "../../../src/context/tool-declarations.ts";
import type { Message } from "../../../src/schema/message.ts";

// Requests that were really sent, with the input tokens their providers reported. Whose words they were is not ours to
// copy: a recording says what shape a request had and how long each text of it was, by our estimate (ASCII and other
// writing apart) and, where the model's tokenizer exists, by that.

/** Estimated ASCII, estimated others, counted by the tokenizer. */
type Size = [plain: number, wide: number, counted?: number];
interface Recording {
  note: string;
  model: string;
  reported: number;
  system?: Size;
  tools?: { count: number; size: Size };
  messages: {
    role: "user" | "assistant" | "tool";
    text?: Size;
    calls?: { size: Size; signature?: number }[];
  }[];
}

const FOLDER = resolve(import.meta.dirname, "recorded");
const RECORDINGS = readdirSync(FOLDER).map((name): [string, Recording] => [
  name.replace(".json", ""),
  JSON.parse(readFileSync(resolve(FOLDER, name), "utf8")),
]);
/** Of a small request a few tokens are a large part. */
const SLACK = 8;
const SLACK_UNTOKENIZED = 40;

describe("B6 requests as they were recorded", () => {
  it.each(RECORDINGS)("B6 %s: within a tenth of what the provider reported", (_, recording) => {
    const family = familyOf(recording.model);
    const estimated = sizeOf(recording, family, family.encoding !== null);
    expect(Math.abs(estimated - recording.reported), `${recording.note}: ${estimated}`).toBeLessThanOrEqual(
      Math.max(SLACK, recording.reported * 0.1),
    );
  });

  const tokenizable = RECORDINGS.filter(([, { model }]) => familyOf(model).encoding !== null);
  it.each(tokenizable)("B6 %s: within a fifth where the tokenizer is not installed", (_, recording) => {
    const estimated = sizeOf(recording, familyOf(recording.model), false);
    expect(Math.abs(estimated - recording.reported), recording.note).toBeLessThanOrEqual(
      Math.max(SLACK_UNTOKENIZED, recording.reported * 0.2),
    );
  });
});

/** The request is built anew from placeholders, each as long as the text it stands for. */
function sizeOf(recording: Recording, family: ModelFamily, byTokenizer: boolean): number {
  const sizes = new Map<string, Size>();
  const placeholder = (size: Size | undefined): string => {
    if (size === undefined) return "";
    const key = `text ${sizes.size}`;
    sizes.set(key, size);
    return key;
  };
  const sizer: Sizer = {
    family,
    text: (text) => {
      const [plain, wide, counted] = sizes.get(text) ?? [0, 0, 0];
      return byTokenizer ? (counted ?? Number.NaN) : plain * family.plain + wide * family.wide;
    },
  };
  const system = placeholder(recording.system);
  const tools: SizedTool[] = Array.from({ length: recording.tools?.count ?? 0 }, (_, i) => ({
    name: `tool ${i}`,
    inputSchema: {},
  }));
  if (recording.tools) {
    const first = JSON.stringify({ name: "tool 0", description: "", parameters: {} });
    sizes.set(family.tools.written === "json" ? first : declareTools(tools), recording.tools.size);
  }
  let tokens = sizeFixedPart({ system, tools }, sizer);
  for (const { role, text, calls = [] } of recording.messages) {
    tokens += sizeMessage(messageOf(role, placeholder(text), calls, placeholder), sizer);
  }
  return tokens;
}

function messageOf(
  role: Recording["messages"][number]["role"],
  text: string,
  calls: { size: Size; signature?: number }[],
  placeholder: (size: Size) => string,
): Message {
  if (role === "user") return { id: "m", role, parts: [{ type: "text", text }] };
  if (role === "tool") {
    const metadata = {} as Extract<Message, { role: "tool" }>["metadata"]; // never sent, so it has no size
    return {
      id: "m",
      role,
      call_id: "c",
      wire_id: "c",
      tool: "",
      output: { type: "text", value: text },
      metadata,
    };
  }
  return {
    id: "m",
    role,
    parts: [
      { type: "text", text },
      ...calls.map(({ size, signature }) => ({
        type: "tool_call" as const,
        call_id: "c",
        wire_id: "c",
        tool: "",
        arguments: null,
        raw: placeholder(size),
        ...(signature === undefined
          ? {}
          : { provider: { google: { thoughtSignature: "s".repeat(signature) } } }),
      })),
    ],
  };
}

describe("the estimate of a request that was never sent", () => {
  it("counts an empty one at what the provider adds", () => {
    const sizer = estimating(familyOf("openai:gpt-4o"));
    expect(sizeFixedPart({ system: "", tools: [] }, sizer)).toBe(3);
  });
});
