import { randomBytes } from "node:crypto";
import type { AgentBinding, Tool } from "trackside";
import { scriptedModel } from "trackside/testing";
import { onTestFinished } from "vitest";

export { SEED_EXAMPLE } from "../../../../core/test/support/seed-example.ts";

import { keyring, type Store, Trackside, type TracksideOptions } from "../../../src/index.ts";

const KEYS = keyring({ current: "k1", keys: { k1: randomBytes(32) } });

/** A model that answers with its instructions, so that one sees who spoke. */
export const echo = () =>
  scriptedModel(
    [
      ({ prompt }) => {
        const system = prompt.find(({ role }) => role === "system");
        return typeof system?.content === "string" ? system.content : "nothing to say";
      },
    ],
    { loop: true },
  );

export interface HostParts extends Omit<Partial<TracksideOptions>, "agents" | "tools"> {
  readonly agents?: readonly object[];
  readonly tools?: readonly Tool[];
}

/** A host whose model is `demo:echo` unless others are given. Closed after the test. */
export function hostOn(store: Store, parts: HostParts = {}, notices: string[] = []): Trackside {
  const { agents = [], ...rest } = parts;
  const trackside = new Trackside({
    store,
    keyring: KEYS,
    models: { "demo:echo": echo() },
    notice: (message) => void notices.push(message),
    ...rest,
    agents: agents as readonly AgentBinding[],
  });
  onTestFinished(() => trackside.close());
  return trackside;
}

/** A definition with what is asked for. */
export function agentOf(name: string, more: object = {}): Record<string, unknown> {
  return { name, model: "demo:echo", instructions: `I am ${name}.`, ...more };
}
