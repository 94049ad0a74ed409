export interface SseEvent {
  type: string;
  data: string;
  id: string | undefined;
}

/** Reads a stream of server-sent events from pieces that may break anywhere, as the HTML standard says. */
export class SseReader {
  /** What the server asked readers to wait before they come back. */
  retryMs: number | undefined;
  private rest = "";
  private data: string[] = [];
  private type = "";
  private id: string | undefined;
  private readonly onEvent: (event: SseEvent) => void;

  constructor(onEvent: (event: SseEvent) => void) {
    this.onEvent = onEvent;
  }

  push(piece: string): void {
    // A \r at the end may be half of \r\n, so it waits for the next piece.
    const text = this.rest + piece;
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.line(line);
  }

  private line(line: string): void {
    if (line === "") this.dispatch();
    if (line === "" || line.startsWith(":")) return;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.data.push(value);
    else if (field === "event") this.type = value;
    else if (field === "id" && !value.includes("\0")) this.id = value;
    else if (field === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
  }

  private dispatch(): void {
    const { data, type, id } = this;
    this.data = [];
    this.type = "";
    if (data.length === 0) return;
    this.onEvent({ type: type || "message", data: data.join("\n"), id });
  }
}
