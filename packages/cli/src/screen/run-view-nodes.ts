import type { DurableEventOf } from "trackside";
import { cleanLine } from "./clean.ts";
import { counted, duration } from "./numbers.ts";
import type { Screen } from "./screen.ts";

type NodeEvent = DurableEventOf<"node">;

/** A node as far as it has come. */
interface ShownNode {
  readonly first: NodeEvent;
  last: NodeEvent;
}

type Style = "green" | "red" | "yellow" | "cyan" | "dim";

const INDENT = 2;
/** As wide as ids are written in a tree; longer ones go beyond it. */
const WIDEST_ID = 40;
const MOST_REASON = 200;

/** The nodes of a workflow: a line where one begins and where it ends, and all of them as a tree when the run is over. */
export class NodeLines {
  readonly #screen: Screen;
  readonly #nodes = new Map<string, ShownNode>();

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  get isEmpty(): boolean {
    return this.#nodes.size === 0;
  }

  has(id: string): boolean {
    return this.#nodes.has(id);
  }

  kindOf(id: string): NodeEvent["kind"] | undefined {
    return this.#nodes.get(id)?.first.kind;
  }

  show(event: NodeEvent): void {
    const known = this.#nodes.get(event.node);
    if (known === undefined) this.#nodes.set(event.node, { first: event, last: event });
    else known.last = event;
    const name = this.#screen.paint("bold", cleanLine(event.node));
    const [style, badge] = BADGES[event.state];
    if (event.state === "started") {
      if (event.kind === "condition") return; // decided at once
      const again = (event.attempt ?? 1) > 1 ? ` · try ${event.attempt}` : "";
      this.#line(style, badge, `${name} ${this.#screen.paint("dim", `· ${event.kind}${again}`)}`);
      return;
    }
    const facts = this.#facts(event).map((fact) => this.#screen.paint("dim", ` · ${fact}`));
    this.#line(style, badge, `${name}${WORDS[event.state]}${facts.join("")}`);
    if (event.failure !== undefined) this.#screen.paragraph(event.failure.message, INDENT);
  }

  /** All of them, in the order they began; `under` shows what is below one. */
  tree(screen: Screen, depth: number, under: (id: string) => void): void {
    const width = Math.min(WIDEST_ID, Math.max(...[...this.#nodes.keys()].map((id) => id.length)));
    for (const [id, { last }] of this.#nodes) {
      const [style, badge] = BADGES[last.state];
      const why = last.failure === undefined ? [] : [cut(cleanLine(last.failure.message))];
      const facts = screen.paint("dim", [last.kind.padEnd(9), ...this.#facts(last), ...why].join(" · "));
      const name = cleanLine(id).padEnd(width);
      screen.line(`${" ".repeat(depth * INDENT)}${screen.paint(style, badge)} ${name}  ${facts}`);
      under(id);
    }
  }

  #facts(event: NodeEvent): string[] {
    const { state, port, items, items_failed = 0, reason, reused, retry_in_ms } = event;
    const facts: string[] = [];
    if (reused) facts.push("taken over from the run before");
    if (port !== undefined && state === "completed") facts.push(port);
    if (port === "rejected") facts.push("goes on by its rejected edge");
    if (items !== undefined)
      facts.push(`${counted(items, "item")}${items_failed > 0 ? `, ${items_failed} failed` : ""}`);
    if (reason !== undefined) facts.push(cleanLine(reason));
    if (retry_in_ms !== undefined)
      facts.push(`trying again ${retry_in_ms === 0 ? "now" : `in ${duration(retry_in_ms)}`}`);
    const began = this.#nodes.get(event.node)?.first;
    if (began !== undefined && began !== event && state !== "skipped")
      facts.push(duration(Math.max(0, event.at - began.at)));
    return facts;
  }

  #line(style: Style, badge: string, text: string): void {
    this.#screen.line(`${this.#screen.paint(style, badge)} ${text}`);
  }
}

const BADGES: Readonly<Record<NodeEvent["state"], readonly [Style, string]>> = {
  started: ["cyan", "▸"],
  retrying: ["yellow", "!"],
  completed: ["green", "✓"],
  failed: ["red", "✗"],
  skipped: ["dim", "–"],
};

const WORDS: Readonly<Record<NodeEvent["state"], string>> = {
  started: "",
  retrying: " failed",
  completed: "",
  failed: " failed",
  skipped: " skipped",
};

function cut(text: string): string {
  return text.length > MOST_REASON ? `${text.slice(0, MOST_REASON)}…` : text;
}
