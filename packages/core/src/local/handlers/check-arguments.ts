import type { Checked } from "../../tools/compile-schema.ts";
import type { Tool } from "../../tools/define-tool.ts";
import type { Effect } from "../effect.ts";
import type { RunContext } from "../run-context.ts";

/** How long a schema that checks asynchronously may take, where the tool does not say. */
const CHECK_MS = 30_000;

/** Checks arguments against a tool's schema. One that hangs ends with the tool's time, or with a cancel. */
export function checkArguments(
  run: RunContext,
  tool: Tool,
  args: unknown,
  effect: Effect,
): Checked | Promise<Checked> {
  const checking = tool.input.check(args);
  if (!(checking instanceof Promise)) return checking;
  return new Promise((resolve) => {
    const ms = tool.timeoutMs ?? CHECK_MS;
    const finish = (checked: Checked) => {
      timer.stop();
      effect.offCancel(listener);
      resolve(checked);
    };
    const problem = (text: string): Checked => ({ ok: false, problem: text });
    const listener = { cancelled: (reason: string) => finish(problem(reason)) };
    const timer = run.parts.clock.after(ms, () =>
      finish(problem(`its schema did not finish within ${ms} ms`)),
    );
    effect.onCancel(listener);
    checking.then(finish, (error: unknown) => finish(problem(`its schema failed: ${String(error)}`)));
  });
}
