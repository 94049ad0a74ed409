import { AgentConfigError, type ConfigIssue } from "trackside";
import { expect } from "vitest";

/** The problems something is refused with. Fails the test if it is accepted, or fails in another way. */
export function problemsOf(make: () => unknown): readonly ConfigIssue[] {
  try {
    make();
  } catch (error) {
    if (!(error instanceof AgentConfigError)) throw error;
    expectReadable(error);
    return error.issues;
  }
  throw new Error("it was accepted");
}

/** The places of the problems, in order of the alphabet. */
export function pathsOf(make: () => unknown): string[] {
  return problemsOf(make)
    .map((found) => found.path)
    .sort();
}

/** Says where, what was given and what is allowed, and never runs away. */
function expectReadable(error: AgentConfigError): void {
  expect(error.code).toBe("config_invalid");
  expect(error.issues.length).toBeGreaterThan(0);
  expect(error.message.length).toBeLessThan(100_000);
  expect(error.issues.filter((found) => !isReadable(found))).toEqual([]);
}

function isReadable({ path, given, allowed, message }: ConfigIssue): boolean {
  const all = [path, given, allowed, message];
  const bounded = given.length < 200 && allowed.length < 3_000 && message.length < 12_000;
  return all.every((text) => text !== "") && bounded && message.startsWith(path);
}
