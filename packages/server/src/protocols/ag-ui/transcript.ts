interface Kept {
  readonly id: string;
  readonly role: "assistant" | "tool" | "reasoning";
  /** The message of ours it belongs to. */
  readonly of: string;
  content: string;
  readonly toolCallId?: string;
  readonly toolCalls: { id: string; type: "function"; function: { name: string; arguments: string } }[];
}

/** The messages a client has after what it was told, for when one has to be taken back from it. */
export class Transcript {
  readonly #before: readonly object[];
  #kept: Kept[] = [];

  constructor(before: readonly object[]) {
    this.#before = before;
  }

  text(messageId: string, delta: string): void {
    this.#of(messageId, "assistant", messageId).content += delta;
  }

  reasoning(id: string, messageId: string, delta: string): void {
    this.#of(id, "reasoning", messageId).content += delta;
  }

  call(messageId: string, callId: string, name: string): void {
    const message = this.#of(messageId, "assistant", messageId);
    message.toolCalls.push({ id: callId, type: "function", function: { name, arguments: "" } });
  }

  arguments(callId: string, delta: string): void {
    const call = this.#kept.flatMap(({ toolCalls }) => toolCalls).find(({ id }) => id === callId);
    if (call !== undefined) call.function.arguments += delta;
  }

  result(id: string, toolCallId: string, content: string): void {
    this.#kept.push({ id, role: "tool", of: id, content, toolCallId, toolCalls: [] });
  }

  retract(messageId: string): void {
    this.#kept = this.#kept.filter(({ of }) => of !== messageId);
  }

  get messages(): readonly object[] {
    const own = this.#kept.map(({ id, role, content, toolCallId, toolCalls }) => {
      if (role === "tool") return { id, role, content, toolCallId };
      return { id, role, content, ...(toolCalls.length > 0 ? { toolCalls } : {}) };
    });
    return [...this.#before, ...own];
  }

  #of(id: string, role: "assistant" | "reasoning", of: string): Kept {
    const known = this.#kept.find((one) => one.id === id && one.role === role);
    if (known !== undefined) return known;
    const made: Kept = { id, role, of, content: "", toolCalls: [] };
    this.#kept.push(made);
    return made;
  }
}
