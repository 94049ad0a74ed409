import { TracksideError } from "trackside";

/** How far a reader has come in a run: durable events up to `seq`, and perhaps the beginning of an open message. */
export interface Position {
  readonly seq: number;
  readonly message?: MessagePosition;
}

/** Offsets count UTF-16 code units of each kind, as live events do. */
export interface MessagePosition {
  readonly id: string;
  readonly text: number;
  readonly reasoning: number;
  /** Of the arguments of its calls, by call id. */
  readonly inputs: Readonly<Record<string, number>>;
}

/** Where a reader goes on (E4): its position in a run and in each of the run's open children. */
export interface Cursor extends Position {
  readonly children: Readonly<Record<string, Position>>;
}

export class CursorError extends TracksideError {
  override readonly name: string = "CursorError";

  constructor(given: string, problem: string) {
    const shown = given.length > 100 ? `${given.slice(0, 100)}…` : given;
    super(
      "cursor_invalid",
      `The cursor ${JSON.stringify(shown)} ${problem}. A cursor is "seq" or "seq:message_id@offset", ` +
        'followed by ";child_run=seq" for each open child: use one as an event stream gave it, or "0" for all events.',
    );
  }
}

/** Far more than any run needs: cursors come from outside. */
const MAX_LENGTH = 65_536;
const REASONING = "reasoning";

/**
 * `seq`, or `seq:message_id@offset` within a message. Where a reader has also seen reasoning or arguments of the open
 * message, `,reasoning@offset` and `,call_id@offset` follow. Children are `;run_id=` and the same again. Ids are
 * percent-encoded where they hold anything but letters, digits and `-_.!~*'()`.
 */
export function formatCursor({ children = {}, ...position }: Position & Partial<Cursor>): string {
  const open = Object.entries(children).map(([id, child]) => `;${encodeURIComponent(id)}=${format(child)}`);
  return format(position) + open.join("");
}

export function parseCursor(text: string): Cursor {
  if (text.length > MAX_LENGTH) throw new CursorError(text, `is longer than ${MAX_LENGTH} characters`);
  const [own = "", ...pairs] = text.split(";");
  const children = new Map<string, Position>();
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 0) throw new CursorError(text, `has ${JSON.stringify(pair)} where "child_run=seq" should be`);
    const id = decodeId(text, pair.slice(0, at));
    if (children.has(id)) throw new CursorError(text, `names the child ${id} twice`);
    children.set(id, parse(text, pair.slice(at + 1)));
  }
  return { ...parse(text, own), children: Object.fromEntries(children) };
}

function format({ seq, message }: Position): string {
  if (message === undefined) return String(seq);
  const also = Object.entries(message.inputs).map(([id, offset]) => `,${encodeURIComponent(id)}@${offset}`);
  if (message.reasoning > 0) also.unshift(`,${REASONING}@${message.reasoning}`);
  return `${seq}:${encodeURIComponent(message.id)}@${message.text}${also.join("")}`;
}

function parse(cursor: string, position: string): Position {
  const at = position.indexOf(":");
  const seq = parseCount(cursor, "a seq", at < 0 ? position : position.slice(0, at));
  if (at < 0) return { seq };
  const [first = "", ...others] = position.slice(at + 1).split(",");
  const [id, text] = parseOffset(cursor, first);
  let reasoning = 0;
  const inputs = new Map<string, number>();
  for (const other of others) {
    const [name, offset] = parseOffset(cursor, other);
    if (name === REASONING) reasoning = offset;
    else inputs.set(name, offset);
  }
  return { seq, message: { id, text, reasoning, inputs: Object.fromEntries(inputs) } };
}

function parseOffset(cursor: string, text: string): [id: string, offset: number] {
  const at = text.lastIndexOf("@");
  if (at < 0)
    throw new CursorError(cursor, `has ${JSON.stringify(text)} where "message_id@offset" should be`);
  return [decodeId(cursor, text.slice(0, at)), parseCount(cursor, "an offset", text.slice(at + 1))];
}

function parseCount(cursor: string, what: string, text: string): number {
  const count = Number(text);
  if (/^(0|[1-9]\d*)$/.test(text) && Number.isSafeInteger(count)) return count;
  throw new CursorError(cursor, `has ${JSON.stringify(text)} where ${what} should be: 0 or more`);
}

function decodeId(cursor: string, text: string): string {
  if (!/^[\w\-.!~*'()%]+$/.test(text))
    throw new CursorError(cursor, `has ${JSON.stringify(text)} where an id should be`);
  try {
    return decodeURIComponent(text);
  } catch {
    throw new CursorError(cursor, `has ${JSON.stringify(text)}, which is no percent-encoded id`);
  }
}
