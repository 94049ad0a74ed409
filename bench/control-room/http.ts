/** Just enough of HTTP to put a load on a server: what it takes itself is taken from the same two cores. */
import { Agent, type IncomingMessage, request } from "node:http";

export interface Where {
  readonly url: string;
  readonly token: string;
}

const keeping = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

export async function post<T>(where: Where, path: string, body: unknown): Promise<T> {
  const answer = await send(where, "POST", path, JSON.stringify(body));
  const text = await textOf(answer);
  const { statusCode = 0 } = answer;
  if (statusCode >= 300) throw new Error(`${path} answered ${statusCode}: ${text.slice(0, 500)}`);
  return JSON.parse(text) as T; // as the contract says
}

export async function get(where: Where, path: string): Promise<string> {
  const answer = await send(where, "GET", path);
  const text = await textOf(answer);
  if (answer.statusCode !== 200)
    throw new Error(`${path} answered ${answer.statusCode}: ${text.slice(0, 500)}`);
  return text;
}

export interface Reader {
  /** Resolves when the server ended the stream. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Reads a stream of events once it has begun: each piece of text that came, whole events in it or not. */
export async function readEvents(
  where: Where,
  path: string,
  heard: (piece: string) => void,
): Promise<Reader> {
  const answer = await send(where, "GET", path, undefined, "text/event-stream");
  if (answer.statusCode !== 200)
    throw new Error(`${path} answered ${answer.statusCode}: ${await textOf(answer)}`);
  answer.setEncoding("utf8");
  answer.on("data", heard);
  const ended = new Promise<void>((resolve) => answer.once("close", () => resolve()));
  return { ended, close: () => answer.destroy() };
}

function send(
  { url, token }: Where,
  method: string,
  path: string,
  body?: string,
  accept = "application/json",
): Promise<IncomingMessage> {
  const headers: Record<string, string> = { authorization: `Bearer ${token}`, accept };
  if (body !== undefined) headers["content-type"] = "application/json";
  return new Promise((resolve, reject) => {
    const asking = request(`${url}/api/v1${path}`, { method, headers, agent: keeping }, resolve);
    asking.once("error", reject);
    asking.end(body);
  });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  answer.setEncoding("utf8");
  let text = "";
  for await (const piece of answer) text += piece;
  return text;
}
