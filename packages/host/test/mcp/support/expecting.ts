import { expect, vi } from "vitest";
import type { Call, Session } from "./place.ts";

/** What a result says in words. */
export function wordsOf(result: unknown): string {
  return typeof result === "string" ? result : JSON.stringify(result);
}

/** A call that fails with a sentence in which server and tool are named, and which is answered here. */
export async function sentenceOf(
  call: Call | Promise<unknown>,
  server: string,
  tool: string,
): Promise<string> {
  const result = "result" in call ? call.result : call;
  const error = await result.then(
    (value) => expect.unreachable(`it came to ${wordsOf(value).slice(0, 500)}`),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Error);
  const { message } = error as Error; // by the line above
  expect(message).toContain(server);
  expect(message).toContain(tool);
  expect(message.length, message).toBeLessThan(2_000);
  return message;
}

/** Calls of the honest server are answered for as long as something else goes on, at least once. */
export async function othersGoOn(session: Session, meanwhile: Promise<unknown>): Promise<void> {
  let over = false;
  const settled = meanwhile.then(
    () => (over = true),
    () => (over = true),
  );
  do {
    expect(wordsOf(await session.call("good__add", { a: 2, b: 3 }))).toContain("5");
    await Promise.race([settled, new Promise((resolve) => setTimeout(resolve, 50))]);
  } while (!over);
}

/** A server that can work again does, after a while that grows with its failures. */
export async function worksAgain(session: Session, tool: string, words: string): Promise<void> {
  await vi.waitFor(async () => expect(wordsOf(await session.call(tool))).toContain(words), {
    timeout: 50_000,
    interval: 200,
  });
}
