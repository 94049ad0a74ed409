/** One server-sent event; `data` that is not a string is sent as JSON. */
export type SseEvent = { event?: string; data: unknown };

export type WireToolCall = { name: string; args: unknown; id?: string };
export type WireErrorKind = "rate_limited" | "overloaded" | "server_error" | "context_overflow";

/** How one provider API says things: text and tool calls as its events, failures as its bodies and events. */
export type Wire = {
  /** A whole answer of text, in `chunks` deltas (default: one per word). */
  text(text: string, options?: { chunks?: number }): SseEvent[];
  /** A whole answer of tool calls, the arguments of each in `chunks` deltas (default 3). */
  toolCall(calls: WireToolCall | WireToolCall[], options?: { chunks?: number; text?: string }): SseEvent[];
  /** A failure as an event inside a 200 stream. */
  errorEvent(kind: WireErrorKind): SseEvent;
  /** The same failure as the JSON body of an error status. */
  errorBody(kind: WireErrorKind): unknown;
};

const MESSAGES: Record<WireErrorKind, string> = {
  rate_limited: "Rate limit reached for requests",
  overloaded: "The model is overloaded, try again later",
  server_error: "The server had an error while processing your request",
  context_overflow:
    "This model's maximum context length is 8192 tokens, your messages resulted in 9000 tokens",
};

const openaiResponses: Wire = {
  text(text, options) {
    const item = { id: "msg_1", type: "message", status: "in_progress", role: "assistant", content: [] };
    return responses((add) => {
      add("response.output_item.added", { output_index: 0, item });
      const at = { item_id: "msg_1", output_index: 0, content_index: 0 };
      const part = { type: "output_text", text: "", annotations: [] };
      add("response.content_part.added", { ...at, part });
      for (const delta of split(text, options?.chunks)) add("response.output_text.delta", { ...at, delta });
      add("response.output_text.done", { ...at, text });
      add("response.content_part.done", { ...at, part: { ...part, text } });
      add("response.output_item.done", {
        output_index: 0,
        item: { ...item, status: "completed", content: [{ ...part, text }] },
      });
    });
  },
  toolCall(calls, options) {
    return responses((add) => {
      [calls].flat().forEach((call, index) => {
        const json = JSON.stringify(call.args);
        const item_id = `fc_${index + 1}`;
        const item = {
          id: item_id,
          type: "function_call",
          status: "in_progress",
          call_id: call.id ?? `call_${index + 1}`,
          name: call.name,
          arguments: "",
        };
        add("response.output_item.added", { output_index: index, item });
        for (const delta of split(json, options?.chunks ?? 3)) {
          add("response.function_call_arguments.delta", { item_id, output_index: index, delta });
        }
        add("response.function_call_arguments.done", { item_id, output_index: index, arguments: json });
        add("response.output_item.done", {
          output_index: index,
          item: { ...item, status: "completed", arguments: json },
        });
      });
    });
  },
  errorEvent(kind) {
    const data = { type: "error", sequence_number: 9, ...responsesError(kind), param: null };
    return { event: "error", data };
  },
  errorBody: (kind) => ({ error: { ...responsesError(kind), type: responsesError(kind).code, param: null } }),
};

function responsesError(kind: WireErrorKind) {
  const codes = {
    rate_limited: "rate_limit_exceeded",
    overloaded: "server_is_overloaded",
    server_error: "server_error",
    context_overflow: "context_length_exceeded",
  };
  return { code: codes[kind], message: MESSAGES[kind] };
}

function responses(write: (add: (type: string, fields: object) => void) => void): SseEvent[] {
  const response = { id: "resp_1", object: "response", created_at: 1, model: "wire-model", output: [] };
  const events: SseEvent[] = [];
  const add = (type: string, fields: object) => {
    events.push({ event: type, data: { type, sequence_number: events.length, ...fields } });
  };
  add("response.created", { response: { ...response, status: "in_progress" } });
  add("response.in_progress", { response: { ...response, status: "in_progress" } });
  write(add);
  const usage = { input_tokens: 11, output_tokens: 7, total_tokens: 18 };
  add("response.completed", { response: { ...response, status: "completed", usage } });
  return events;
}

const openaiChat: Wire = {
  text(text, options) {
    return chat([
      { role: "assistant", content: "" },
      ...split(text, options?.chunks).map((content) => ({ content })),
    ]);
  },
  toolCall(calls, options) {
    const deltas = [calls].flat().flatMap((call, index) => {
      const start = { index, id: call.id ?? `call_${index + 1}`, type: "function" };
      const rest = split(JSON.stringify(call.args), options?.chunks ?? 3);
      return [
        { tool_calls: [{ ...start, function: { name: call.name, arguments: "" } }] },
        ...rest.map((json) => ({ tool_calls: [{ index, function: { arguments: json } }] })),
      ];
    });
    const text = options?.text === undefined ? [] : [{ content: options.text }];
    return chat([{ role: "assistant", content: null }, ...text, ...deltas], "tool_calls");
  },
  errorEvent: (kind) => ({ data: { error: chatError(kind) } }),
  errorBody: (kind) => ({ error: chatError(kind) }),
};

function chatError(kind: WireErrorKind) {
  const types = {
    rate_limited: ["requests", "rate_limit_exceeded"],
    overloaded: ["service_unavailable", null],
    server_error: ["server_error", null],
    context_overflow: ["invalid_request_error", "context_length_exceeded"],
  } as const;
  const [type, code] = types[kind];
  return { message: MESSAGES[kind], type, param: null, code };
}

function chat(deltas: object[], finish = "stop"): SseEvent[] {
  const chunk = (fields: object) => ({
    data: { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "wire-model", ...fields },
  });
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
  return [
    ...deltas.map((delta) => chunk({ choices: [{ index: 0, delta, finish_reason: null }] })),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: finish }] }),
    chunk({ choices: [], usage }),
    { data: "[DONE]" },
  ];
}

const anthropic: Wire = {
  text(text, options) {
    return message(
      [
        [
          { type: "text", text: "" },
          split(text, options?.chunks).map((delta) => ({ type: "text_delta", text: delta })),
        ],
      ],
      "end_turn",
    );
  },
  toolCall(calls, options) {
    const blocks: Block[] = [calls].flat().map((call, index) => [
      { type: "tool_use", id: call.id ?? `toolu_${index + 1}`, name: call.name, input: {} },
      split(JSON.stringify(call.args), options?.chunks ?? 3).map((partial_json) => ({
        type: "input_json_delta",
        partial_json,
      })),
    ]);
    if (options?.text !== undefined) {
      blocks.unshift([{ type: "text", text: "" }, [{ type: "text_delta", text: options.text }]]);
    }
    return message(blocks, "tool_use");
  },
  errorEvent: (kind) => ({ event: "error", data: anthropicError(kind) }),
  errorBody: anthropicError,
};

function anthropicError(kind: WireErrorKind) {
  const types = {
    rate_limited: "rate_limit_error",
    overloaded: "overloaded_error",
    server_error: "api_error",
    context_overflow: "invalid_request_error",
  };
  const text =
    kind === "context_overflow" ? "prompt is too long: 9000 tokens > 8192 maximum" : MESSAGES[kind];
  return { type: "error", error: { type: types[kind], message: text } };
}

type Block = [start: object, deltas: object[]];

function message(blocks: Block[], stop_reason: string): SseEvent[] {
  const events: SseEvent[] = [];
  const add = (type: string, fields: object) => {
    events.push({ event: type, data: { type, ...fields } });
  };
  add("message_start", {
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "wire-model",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 11, output_tokens: 1 },
    },
  });
  blocks.forEach(([content_block, deltas], index) => {
    add("content_block_start", { index, content_block });
    if (index === 0) add("ping", {});
    for (const delta of deltas) add("content_block_delta", { index, delta });
    add("content_block_stop", { index });
  });
  add("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 7 } });
  add("message_stop", {});
  return events;
}

function split(text: string, chunks?: number): string[] {
  if (chunks === undefined) return text.match(/\s*\S+/g) ?? [text];
  const size = Math.max(1, Math.ceil(text.length / chunks));
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += size) parts.push(text.slice(at, at + size));
  return parts;
}

export const wires = { openaiResponses, openaiChat, anthropic };
