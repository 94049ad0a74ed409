import type { AgentEvent, Approval, Conversation, Engine, RunOptions, RunStream, Tool } from "trackside";
import { approverFor, type Policy } from "./approvals/policy.ts";
import { claimStdout, type Io, type Output } from "./io.ts";
import { jsonLine } from "./screen/clean.ts";
import { Held } from "./screen/held.ts";
import { RunView } from "./screen/run-view.ts";
import { Screen } from "./screen/screen.ts";
import { toolServers } from "./tool-servers.ts";
import { type Ending, watch } from "./watch.ts";

/** How runs are shown: to a person, or as event lines on stdout with everything else on stderr. */
export interface Presenter {
  readonly output: Output;
  readonly screen: Screen;
  turn(agent: Runnable, message: string, options: TurnOptions): Promise<Ending>;
}

/** What runs a turn: an agent, or one of a config's on its store. */
export interface Runnable {
  readonly definition: { readonly model: string };
  stream(message: string, options: RunOptions & { engine?: Engine }): RunStream<string, readonly Tool[]>;
  /** The record of an approval, where runs are at work in another process. */
  approval?(id: string): Promise<Approval | undefined>;
  /** Told of each event before it is shown. */
  saw?(event: AgentEvent): void;
}

export interface TurnOptions {
  /** Who decides about calls that need an approval. */
  readonly approve: Policy;
  readonly conversation?: Conversation | undefined;
  /** Runs on this model instead of the agent's, by this engine. */
  readonly on?: { readonly model: string; readonly engine: Engine } | undefined;
}

export function presenter(io: Io, { json = false, wrapFiles = false }): Presenter {
  const output = json ? io.stderr : io.stdout;
  const screen = new Screen(output, io.env, { wrapFiles });
  return presenterOn(io, { output, screen, json, write: json ? claimStdout(io) : () => {} });
}

/** On streams that are taken already: those of a command on a store. */
export function presenterOn(
  io: Io,
  {
    output,
    screen,
    json,
    write,
  }: Pick<Presenter, "output" | "screen"> & { json: boolean; write(text: string): void },
): Presenter {
  const isSharedTerminal = !json || io.stdout.isTTY === true;
  const writeEvents = json ? write : undefined;
  return {
    output,
    screen,
    turn(agent, message, { approve, conversation, on }) {
      const run = agent.stream(message, {
        signal: io.gone,
        toolServers,
        ...(conversation ? { conversation } : {}),
        ...(on ? { engine: on.engine } : {}),
      });
      const you = approve.kind === "person" && approve.by !== undefined ? { you: approve.by } : {};
      const view = new RunView(screen, on?.model ?? agent.definition.model, you);
      const asLine = (event: AgentEvent) => {
        view.calls.note(event);
        writeEvents?.(`${jsonLine(event)}\n`);
      };
      const held = new Held(writeEvents ? asLine : (event) => view.show(event));
      return watch(run, {
        io,
        show: (event) => {
          agent.saw?.(event);
          held.show(event);
        },
        find: agent.approval,
        stopping: () => screen.waitFor("stopping, Ctrl-C again exits at once"),
        approver: approverFor(approve, {
          io,
          output,
          screen,
          calls: view.calls,
          shown: !json,
          // Lines for another program are not kept from it because somebody here is being asked.
          hold: () => isSharedTerminal && held.hold(),
          release: () => held.release(),
        }),
      }).finally(() => screen.settled());
    },
  };
}
