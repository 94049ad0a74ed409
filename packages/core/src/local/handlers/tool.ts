import { type CheckChange, Lazy } from "../../hooks/inputs.ts";
import { applyOperations } from "../../rails/rail-state.ts";
import type { Approval } from "../../schema/approval.ts";
import { type Json, type JsonObject, strictJsonObject } from "../../schema/json.ts";
import type { ToolCallPart, ToolOutput } from "../../schema/message.ts";
import type { HookPoint } from "../../schema/points.ts";
import { readJobs, type SpawnTool } from "../../subagents/jobs.ts";
import { aggregate, type Entry } from "../../subagents/results.ts";
import type { ElicitAnswer, Tool } from "../../tools/define-tool.ts";
import { isOversized, offload, shortened } from "../../tools/offload.ts";
import { isBounded, READ_ARTIFACT } from "../../tools/read-artifact.ts";
import { ToolValue, toOutput } from "../../tools/to-output.ts";
import type { AskOut, ChildOut, Refused, ToolInput, ToolOut } from "../../turn/world.ts";
import { digestOf } from "../digest.ts";
import type { Effect } from "../effect.ts";
import type { LoopTool } from "../loop-tools.ts";
import { after, type Maybe } from "../maybe.ts";
import { dispatchPoint, type Place, type PointResult } from "../point.ts";
import type { RunContext } from "../run-context.ts";
import { openApproval, openElicitation, type Question, toolDigest } from "./ask.ts";
import { checkArguments } from "./check-arguments.ts";
import { type Executed, execute, type Progress } from "./execute.ts";
import { leftOpen } from "./open-record.ts";
import { Spoken } from "./spoken.ts";
import { callError, ToolRecord } from "./tool-record.ts";

/** Runs one call: check, PRE_TOOL_CALL, approval, execute, POST_TOOL_CALL or TOOL_ERROR, record. It always leaves a result. */
export function callTool(run: RunContext, input: ToolInput, effect: Effect): Maybe<ToolOut> {
  run.enter(input.agent);
  const tool = run.agent.toolByName.get(input.call.tool);
  if (tool === undefined || !mayConflict(run, tool)) return roundOfCall(run, input, effect);
  const free = () => run.parts.resources.free(run.root, input.call.id);
  return Promise.resolve(roundOfCall(run, input, effect)).then(
    (out) => {
      if (out.gate?.kind !== "elicitation") free(); // a tool that asks something is still at work
      return out;
    },
    (error: unknown) => {
      free();
      throw error;
    },
  );
}

/** Whether a call of this tool can be in the way of another one of its tree (T5). Most cannot, and take no claim. */
function mayConflict(run: RunContext, tool: Tool): boolean {
  return tool.exclusive || tool.sharesResource || run.agent.hasExclusive;
}

function roundOfCall(run: RunContext, input: ToolInput, effect: Effect): Maybe<ToolOut> {
  const part = findCall(run, input);
  const record = new ToolRecord(run, part, input);
  const tool = run.agent.toolByName.get(part.tool);
  if (effect.cancelled !== undefined) {
    const gate = leftOpen(run, ({ call_id }) => call_id === part.call_id);
    if (gate) return { gate };
    if (input.decided) record.decided(input.decided);
    if (input.children) return interruptedChildren(run, input.children, part, record, effect.cancelled);
    if (input.answered) return interruptedFlight(run, input, record, effect.cancelled);
    const isDoubtful = tool !== undefined && mayHaveRun(run, tool, input, effect);
    return isDoubtful ? record.interrupted(effect.cancelled) : record.stopped(effect.cancelled);
  }
  if (tool === undefined || (input.planner && run.agent.loopTool(tool.name)))
    return record.never("tool_unknown", unknownTool(run, part.tool, input.planner === true));
  const written = part.arguments;
  if (written === null) return record.never("tool_arguments_invalid", notRun(tool, part.problem ?? ""));
  return after(checkArguments(run, tool, written, effect), (checked): Maybe<ToolOut> => {
    if (effect.cancelled !== undefined) return record.stopped(effect.cancelled);
    if (!checked.ok) return record.never("tool_arguments_invalid", notRun(tool, checked.problem));
    const call = new ToolCall(run, input, effect, tool, written, record);
    if (input.answered) return call.answered(input.answered, checked.value);
    return input.children || input.handed ? call.goOn() : call.make(checked.value);
  });
}

/** Its sub-agents had begun when everything was stopped. */
function interruptedChildren(
  { parts }: RunContext,
  { started_at, ran_with }: NonNullable<ToolInput["children"]>,
  { arguments: written }: ToolCallPart,
  record: ToolRecord,
  reason: string,
): ToolOut {
  record.ran(started_at, parts.clock.now());
  if (ran_with !== undefined && written !== null) record.ranWith(ran_with, written);
  return record.interrupted(reason);
}

/** It was asking something when the run was stopped. */
function interruptedFlight(
  run: RunContext,
  { call }: ToolInput,
  record: ToolRecord,
  reason: string,
): ToolOut {
  const flight = run.flights.get(call.id);
  run.flights.delete(call.id);
  flight?.stop(reason);
  record.start(flight?.startedAt);
  return record.interrupted(reason);
}

/** It was under way in a process that died, and nothing says that it was still waiting for somebody (T2). */
function mayHaveRun(run: RunContext, tool: Tool, { decided }: ToolInput, { key }: Effect): boolean {
  const isGated = tool.executor === "client" || run.agent.definition.hitl_tools.includes(tool.name);
  if (decided === undefined ? isGated : decided.status !== "approved") return false;
  return run.keeper?.mayHaveRun(key, tool) ?? false;
}

const NO_REASONS: readonly string[] = Object.freeze([]);

/** What PRE_TOOL_CALL came to: an end, or the arguments it runs with and what a human has to be asked. */
type Before = { readonly out: ToolOut } | { readonly args: JsonObject; readonly reasons: readonly string[] };

/** What came of a tool: an error, or what it returned. */
type Ran = { readonly output: ToolOutput & { type: "error" } } | ToolValue;

class ToolCall {
  readonly #run: RunContext;
  readonly #input: ToolInput;
  readonly #effect: Effect;
  readonly #tool: Tool;
  readonly #written: JsonObject;
  readonly #record: ToolRecord;
  /** What rails have written so far in this effect. */
  #rails: Place["rails"] | undefined;
  readonly #spoken = new Spoken();

  constructor(
    run: RunContext,
    input: ToolInput,
    effect: Effect,
    tool: Tool,
    written: JsonObject,
    record: ToolRecord,
  ) {
    this.#run = run;
    this.#input = input;
    this.#effect = effect;
    this.#tool = tool;
    this.#written = written;
    this.#record = record;
  }

  /** `value` is what the model wrote, as the tool's schema reads it. */
  make(value: unknown): Maybe<ToolOut> {
    const { decided, resuming } = this.#input;
    if (decided === undefined) return this.#begin(value);
    this.#record.decided(decided);
    const approval = this.#run.approvals.get(decided.approval_id);
    if (approval === undefined) throw new Error(`the approval ${decided.approval_id} is gone`);
    if (resuming) return this.#resume(approval, decided);
    // Another attempt at an approved call: what a human wrote stands, not what the model did.
    const edited = approval.decision?.edited_arguments;
    if (decided.status !== "approved" || edited === undefined) return this.#begin(value);
    return digestOf(edited) === decided.digest ? this.#edited(edited) : this.#out(this.#changed("arguments"));
  }

  /** The person behind the run has answered what the running tool asked. */
  answered(answer: AskOut, value: unknown): Maybe<ToolOut> {
    const { decided, call } = this.#input;
    if (decided !== undefined) this.#record.decided(decided);
    const flight = this.#run.flights.get(call.id);
    this.#run.flights.delete(call.id);
    if (flight === undefined) return this.#landed(value);
    this.#record.start(flight.startedAt);
    if (!sameJson(flight.args, this.#written)) this.#record.ranWith(flight.args, this.#written);
    if (answer.cancelled !== undefined) {
      flight.stop(answer.cancelled);
      return this.#out(this.#record.interrupted(answer.cancelled));
    }
    const { decision } = this.#run.approvals.get(answer.approval_id) ?? {};
    flight.answer(answerOf(answer, decision?.response));
    return after(flight.next(this.#effect), (progress) => this.#progressed(flight.args, progress));
  }

  /** It was asking when its process died: what it did until then nobody knows (X3). */
  #landed(value: unknown): Maybe<ToolOut> {
    const why = "it was waiting for an answer when its process died";
    const goOn = () =>
      this.#tool.effect === "once" ? this.#unknown(this.#written, why) : this.#execute(this.#written, value);
    const { keeper } = this.#run;
    if (keeper === undefined) return goOn();
    return after(keeper.found(this.#effect.key, this.#tool), (found) => {
      if (found.kind !== "ran") return goOn();
      this.#record.ran(found.kept.started_at, found.kept.completed_at);
      return this.#finish(this.#written, found.kept.executed);
    });
  }

  /** The loop has done what the call asked of it: started children, or passed the turn on. */
  goOn(): Maybe<ToolOut> {
    const { decided, children, handed } = this.#input;
    if (decided !== undefined) this.#record.decided(decided);
    if (handed !== undefined) {
      const { to, refused, ran_with } = handed;
      if (refused !== undefined) return this.#stays(refused);
      if (ran_with !== undefined) this.#record.ranWith(ran_with, this.#written);
      this.#record.start();
      return this.#finish(ran_with ?? this.#written, { kind: "returned", value: `Handed over to ${to}.` });
    }
    if (children === undefined) throw new Error("a call goes on without anything to go on with");
    const args = children.ran_with ?? this.#written;
    if (children.ran_with !== undefined) this.#record.ranWith(args, this.#written);
    this.#record.ran(children.started_at, this.#run.parts.clock.now());
    return after(this.#entries(children.results), ({ entries, sources }) => {
      this.#record.passesOn(sources);
      const value = aggregate(spawnTool(this.#tool), entries);
      return this.#finish(args, { kind: "returned", value });
    });
  }

  /** The turn is not handed over: the call did nothing. */
  #stays({ code, why, by }: Refused): ToolOut {
    if (by !== undefined) this.#record.skippedBy(by);
    return this.#out(this.#record.never(code, `Not handed over: ${why}.`));
  }

  /** What became of each child, with what it said (S5). */
  async #entries(
    results: readonly ChildOut[],
  ): Promise<{ readonly entries: readonly Entry[]; readonly sources: readonly string[] }> {
    const sources = new Set<string>();
    const entries = await Promise.all(
      results.map(async ({ run_id, failure, usage }, index): Promise<Entry> => {
        const answer = failure ? undefined : await this.#run.parts.children.answer(this.#run, run_id);
        if (answer === undefined) {
          const { code, message } = failure ?? LOST;
          return { index, status: "error", error: { code, message }, usage };
        }
        const { text: output, structured } = answer;
        for (const source of answer.sources) sources.add(source);
        return {
          index,
          status: "success",
          output,
          usage,
          ...(structured === undefined ? {} : { structured }),
        };
      }),
    );
    return { entries, sources: [...sources].sort() };
  }

  /** A human has decided. */
  #resume({ kind, arguments: asked, tool_digest, decision }: Approval, decided: AskOut): Maybe<ToolOut> {
    if (decided.cancelled !== undefined) return this.#out(this.#record.stopped(decided.cancelled));
    if (decided.status !== "approved") return this.#out(this.#refused(kind, decided));
    const args = asked ?? this.#written;
    const edited = decision?.edited_arguments;
    if (tool_digest !== toolDigest(this.#tool)) return this.#out(this.#changed("tool"));
    // The journal has the digest of what was decided on; the record may have been altered since (L3).
    if (digestOf(edited ?? args) !== decided.digest) return this.#out(this.#changed("arguments"));
    if (kind === "client_tool" || decided.choice === "ran") {
      if (!sameJson(args, this.#written)) this.#record.ranWith(args, this.#written);
      return this.#finish(args, { kind: "returned", value: decision?.response });
    }
    return edited === undefined ? this.#checkAndExecute(args) : this.#edited(edited);
  }

  /** The model's own arguments: rails may change them, skip the call, or have a human asked. */
  #begin(value: unknown): Maybe<ToolOut> {
    if (!this.#run.listens("PRE_TOOL_CALL")) return this.#admit(this.#written, value, NO_REASONS);
    return after(this.#before(this.#written), (before): Maybe<ToolOut> => {
      if ("out" in before) return before.out;
      const { args, reasons } = before;
      if (args === this.#written) return this.#admit(args, value, reasons);
      return this.#checked(args, (changed) => this.#admit(args, changed, reasons));
    });
  }

  /** Runs it, unless a human or a client has to come in first. */
  #admit(args: JsonObject, value: unknown, asked: readonly string[]): Maybe<ToolOut> {
    const { name, executor } = this.#tool;
    const gated = this.#run.agent.definition.hitl_tools.includes(name);
    const reasons = gated ? [`${name} is in hitl_tools`, ...asked] : asked;
    if (executor === "client") return this.#gate("client_tool", args, [...reasons, "a client has to run it"]);
    if (reasons.length > 0 && !this.#alreadyApproved(args)) return this.#gate("tool_call", args, reasons);
    return this.#execute(args, value);
  }

  /** A human's arguments pass the rails again: skip and abort win, another question is not asked (L3). */
  async #edited(edited: JsonObject): Promise<ToolOut> {
    let args = edited;
    if (this.#run.listens("PRE_TOOL_CALL")) {
      const before = await this.#before(args);
      if ("out" in before) return before.out;
      args = before.args;
    }
    return this.#checkAndExecute(args);
  }

  #before(args: JsonObject): Maybe<Before> {
    const check = async (_field: string, value: unknown) => {
      if (!strictJsonObject.safeParse(value).success) return "a JSON object is expected";
      const found = await checkArguments(this.#run, this.#tool, value, this.#effect);
      return found.ok ? undefined : found.problem;
    };
    const values = { toolName: this.#tool.name, arguments: args };
    return after(this.#dispatch("PRE_TOOL_CALL", values, check), (found) => this.#decidedBefore(found));
  }

  #decidedBefore({ outcome, inputs, failure }: PointResult): Maybe<Before> {
    if (this.#effect.cancelled !== undefined)
      return { out: this.#out(this.#record.stopped(this.#effect.cancelled)) };
    if (failure)
      return {
        out: this.#out(this.#record.never("cancelled", `Not run: ${failure.message}`, { fatal: failure })),
      };
    if (outcome.action === "skip")
      return after(this.#skipped(outcome.rail ?? "", outcome.reason, outcome.replacement), (out) => ({
        out,
      }));
    if (outcome.action !== "continue") {
      return {
        out: this.#out(
          this.#record.never("cancelled", `Not run: ${outcome.rail}: ${outcome.reason || outcome.action}`),
        ),
      };
    }
    const reasons =
      outcome.asks.length === 0 ? NO_REASONS : outcome.asks.map(({ rail, reason }) => `${rail}: ${reason}`);
    return { args: inputs.read("arguments") as JsonObject, reasons }; // fits the tool's schema, checked above
  }

  #execute(args: JsonObject, value: unknown): Maybe<ToolOut> {
    const asked = this.#run.agent.loopTool(this.#tool.name);
    if (asked !== undefined) return this.#askLoop(asked, args);
    if (!sameJson(args, this.#written)) this.#record.ranWith(args, this.#written);
    if (!mayConflict(this.#run, this.#tool)) return this.#begun(args, value);
    const { root, parts } = this.#run;
    // What really runs decides, not what the model wrote: rails and humans may have changed it.
    const claim = { exclusive: this.#tool.exclusive, key: this.#tool.resourceOf(value) };
    return after(parts.resources.take(root, this.#input.call.id, claim, this.#effect), () =>
      this.#effect.cancelled === undefined
        ? this.#begun(args, value)
        : this.#out(this.#record.stopped(this.#effect.cancelled)),
    );
  }

  /** Nothing is in its way: it runs, unless an earlier life of it did. */
  #begun(args: JsonObject, value: unknown): Maybe<ToolOut> {
    const { keeper } = this.#run;
    if (keeper === undefined) return this.#perform(args, value);
    return after(keeper.found(this.#effect.key, this.#tool), (found): Maybe<ToolOut> => {
      if (found.kind === "unknown") return this.#unknown(args, found.why);
      if (found.kind === "ran") {
        this.#record.ran(found.kept.started_at, found.kept.completed_at);
        return this.#finish(args, found.kept.executed);
      }
      return after(keeper.starting(this.#effect.key, this.#tool, args), () => {
        if (this.#effect.cancelled !== undefined)
          return this.#out(this.#record.stopped(this.#effect.cancelled));
        return this.#perform(args, value);
      });
    });
  }

  /** Rails and humans have let it: the rest is the loop's. */
  #askLoop(asked: LoopTool, args: JsonObject): ToolOut {
    const { agent, parts } = this.#run;
    if (asked.kind === "handoff") {
      const { reason, input } = args;
      const wish = { to: asked.agent, reason: textOf(reason), input: textOf(input) };
      return this.#out({ handoff: { ...wish, ...this.#ranWith(args) } });
    }
    const limits = { max: agent.definition.max_parallel_subagents, childTools: agent.childTools };
    const read = readJobs(asked.tool, args, limits);
    if (!read.ok)
      return this.#out(this.#record.never("tool_arguments_invalid", notRun(this.#tool, read.problem)));
    const limited = asked.tool === "spawn_parallel";
    const spawn = { jobs: read.jobs, limited, started_at: parts.clock.now(), ...this.#ranWith(args) };
    return this.#out({ spawn });
  }

  /** What it runs with, for a later round to tell, where that is not what the model wrote. */
  #ranWith(args: JsonObject): { ran_with?: JsonObject } {
    return sameJson(args, this.#written) ? {} : { ran_with: args };
  }

  #perform(args: JsonObject, value: unknown): Maybe<ToolOut> {
    this.#record.start();
    const executing = execute(this.#run, this.#tool, args, value, this.#input, this.#effect);
    return after(executing, (progress) => this.#progressed(args, progress));
  }

  #progressed(args: JsonObject, progress: Progress): Maybe<ToolOut> {
    const { keeper } = this.#run;
    if (progress.kind === "elicits") return this.#elicit(progress);
    this.#record.end();
    if (keeper === undefined || progress.kind === "cancelled") return this.#finish(args, progress);
    const kept = { executed: progress, ...this.#record.times };
    return after(keeper.ran(this.#effect.key, this.#tool, kept), () => this.#finish(args, progress));
  }

  /** The tool asks something and runs on: its question is an approval like any other (L8). */
  #elicit({ question, flight }: Extract<Progress, { kind: "elicits" }>): Maybe<ToolOut> {
    const { id } = this.#input.call;
    flight.asks(question);
    this.#run.flights.set(id, flight);
    const about = { id: `${id}.elicitation.${roundOf(this.#effect.key)}`, ...question.request };
    return after(openElicitation(this.#run, this.#tool, id, about), (gate) => this.#out({ gate }));
  }

  /** It was running when its process died, and it may not run twice: a human says what happened (X3). */
  #unknown(args: JsonObject, why: string): Maybe<ToolOut> {
    const { approvals } = this.#run;
    for (const { id, kind, call_id } of approvals.pending)
      if (kind === "elicitation" && call_id === this.#input.call.id)
        approvals.cancel(id, "the tool that asked is gone"); // nobody waits for the answer
    if (this.#tool.onUnknown === "ask") return this.#gate("unknown_outcome", args, [why]);
    return this.#out(this.#record.settle(callError("unknown_outcome", `Whether it ran is unknown: ${why}`)));
  }

  #finish(args: JsonObject, executed: Executed): Maybe<ToolOut> {
    if (executed.kind === "cancelled") return this.#out(this.#record.interrupted(executed.reason));
    if (executed.kind !== "returned" || !isBounded(this.#tool)) return this.#deliver(args, executed);
    return after(this.#tool.sources(args), (sources) => {
      this.#record.passesOn(sources);
      return this.#deliver(args, executed);
    });
  }

  #deliver(args: JsonObject, executed: Exclude<Executed, { kind: "cancelled" }>): Maybe<ToolOut> {
    return after(outputOf(this.#tool, executed), (ran): Maybe<ToolOut> => {
      const point = "files" in ran ? "POST_TOOL_CALL" : "TOOL_ERROR";
      if (!this.#run.listens(point)) return this.#settle(ran);
      return after(this.#dispatch(point, this.#valuesAfter(args, ran.output), changedResult), (found) =>
        this.#after(found, point, ran),
      );
    });
  }

  #valuesAfter(args: JsonObject, output: ToolOutput): Readonly<Record<string, unknown>> {
    const toolName = this.#tool.name;
    if (output.type === "error") return { toolName, arguments: args, error: Object.freeze(output.failure) };
    const metadata = new Lazy(() => Object.freeze(this.#record.metadata(output)));
    return { toolName, arguments: args, result: output.value, metadata };
  }

  /** Exactly one of POST_TOOL_CALL (returned) and TOOL_ERROR (threw, timed out) fires after a tool ran (R2). */
  #after({ outcome, inputs, failure }: PointResult, point: HookPoint, ran: Ran): Maybe<ToolOut> {
    const { output } = ran;
    const { cancelled } = this.#effect;
    if (cancelled !== undefined)
      return this.#out(this.#record.settle(unseen(output, "the run was stopped"), { cancelled }));
    if (failure) return this.#out(this.#record.settle(unseen(output, failure.message), { fatal: failure }));
    if (outcome.action === "skip") {
      this.#record.skippedBy(outcome.rail ?? "");
      return this.#settle(
        toValue(outcome.replacement ?? withheld(point, outcome.rail ?? "", outcome.reason)),
      );
    }
    if (outcome.action !== "continue") {
      // What happens once is not made to happen again, whatever a rail says (R8).
      const exhausted = outcome.action === "retry" && this.#tool.effect === "once";
      const out = this.#record.settle(unseen(output, `${outcome.rail}: ${outcome.reason || outcome.action}`));
      return this.#out(exhausted ? { ...out, exhausted } : out);
    }
    if (!inputs.everChanged || !("files" in ran)) return this.#settle(ran);
    const changed = toValue(inputs.read("result"));
    if (ran.files.length === 0 || !("files" in changed) || changed.files.length > 0)
      return this.#settle(changed);
    // Rails see files as what is said of them; those it still speaks of are still there.
    return this.#settle(new ToolValue(changed.type, changed.text, ran.files));
  }

  /** Records what rails have left: an error cut short, a result that is too large for the log put away (T4). */
  #settle(ran: Ran): Maybe<ToolOut> {
    const { toolByName, definition } = this.#run.agent;
    const { offload_above_bytes: above } = definition;
    if (!("files" in ran)) return this.#out(this.#record.settle(shortened(ran.output, above)));
    if (isBounded(this.#tool) || !isOversized(ran, above)) return this.#out(this.#record.settle(ran.output));
    const known = toolByName.get(READ_ARTIFACT);
    // The planner is gone before it could read on.
    const canRead = !this.#input.planner && (known === undefined || isBounded(known));
    const reader = canRead ? READ_ARTIFACT : undefined;
    const desk = this.#input.planner ? this.#run.plannerArtifacts : this.#run.artifacts;
    const sources = [this.#tool.name, ...(this.#record.sources ?? [])];
    const into = { callId: this.#input.call.id, sources, above, desk, reader };
    return offload(ran, into).then(({ output, artifacts: kept }) => {
      const of = { call_id: into.callId };
      const artifacts = kept.map(({ id, media_type, bytes }) => ({
        artifact_id: id,
        ...of,
        media_type,
        bytes,
      }));
      return this.#out(this.#record.settle(output, { artifacts }));
    });
  }

  #dispatch(
    point: HookPoint,
    values: Readonly<Record<string, unknown>>,
    check: CheckChange,
  ): Maybe<PointResult> {
    return after(dispatchPoint(this.#run, point, values, this.#place(), check), (found) => {
      const { verdict, outcome } = found;
      this.#spoken.add(verdict, outcome.passed);
      this.#rails = applyOperations(this.#rails ?? this.#input.rails, outcome.operations); // POST rails read what PRE rails wrote
      return found;
    });
  }

  #gate(kind: Question["kind"], args: JsonObject, reasons: readonly string[]): Maybe<ToolOut> {
    const { id } = this.#input.call;
    const what =
      kind === "unknown_outcome" ? `unknown.${roundOf(this.#effect.key)}` : `approval.${this.#input.attempt}`;
    const about = { id: `${id}.${what}`, kind, reasons: [...reasons] };
    const { injected } = findCall(this.#run, this.#input);
    const opened = openApproval(this.#run, this.#tool, { id, arguments: args, injected }, about);
    return after(opened, (gate) => this.#out({ gate }));
  }

  /** What was approved is no longer what would run. */
  #changed(what: "tool" | "arguments"): ToolOut {
    const { name } = this.#tool;
    const told = what === "tool" ? `the tool ${name} has` : `the arguments of this call of ${name} have`;
    return this.#record.never("rejected", `Not run: ${told} changed since it was decided on.`);
  }

  /** A retry of an approved call needs no second approval for the very same arguments (L3). */
  #alreadyApproved(args: JsonObject): boolean {
    const { decided } = this.#input;
    return decided?.status === "approved" && decided.digest === digestOf(args);
  }

  #refused(kind: Approval["kind"], { status, reason }: AskOut): ToolOut {
    if (kind === "unknown_outcome") {
      const told = reason === "" ? "nobody could tell what came of it." : reason;
      return this.#record.settle(callError("unknown_outcome", `Whether it ran is unknown: ${told}`));
    }
    const why = reason === "" ? "" : `: ${reason}`;
    return status === "rejected"
      ? this.#record.never("rejected", `Not run: the call was rejected${why}`)
      : this.#record.never("approval_timed_out", "Not run: nobody approved the call in time.");
  }

  #skipped(rail: string, reason: string, replacement: Json | undefined): Maybe<ToolOut> {
    this.#record.skippedBy(rail);
    if (replacement !== undefined) return this.#settle(toValue(replacement));
    const why = `Not run: ${rail} does not allow it${reason === "" ? "." : `: ${reason}`}`;
    return this.#out(this.#record.never("rejected", why));
  }

  #checkAndExecute(args: JsonObject): Maybe<ToolOut> {
    return this.#checked(args, (value) => this.#execute(args, value));
  }

  /** Arguments that a rail or a human wrote were checked then; here the tool's schema reads them. */
  #checked(args: JsonObject, next: (value: unknown) => Maybe<ToolOut>): Maybe<ToolOut> {
    return after(checkArguments(this.#run, this.#tool, args, this.#effect), (checked): Maybe<ToolOut> => {
      if (this.#effect.cancelled !== undefined)
        return this.#out(this.#record.stopped(this.#effect.cancelled));
      if (checked.ok) return next(checked.value);
      return this.#out(this.#record.never("tool_arguments_invalid", notRun(this.#tool, checked.problem)));
    });
  }

  #place(): Place {
    const { attempt, rails } = this.#input;
    return {
      effect: this.#effect,
      key: `${this.#input.call.id}/${this.#input.attempt}`,
      attempt,
      rails: this.#rails ?? rails,
    };
  }

  #out(out: ToolOut): ToolOut {
    return this.#spoken.into(out);
  }
}

function answerOf({ status }: AskOut, response: Json | undefined): ElicitAnswer {
  if (status === "approved") return { action: "accept", content: response as JsonObject }; // checked when it was decided
  return { action: status === "rejected" ? "decline" : "cancel" };
}

const LOST = { code: "internal", message: "What it said is gone." } as const;

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function spawnTool({ name }: Tool): SpawnTool {
  return name === "spawn_self" ? name : "spawn_parallel";
}

function outputOf(tool: Tool, executed: Exclude<Executed, { kind: "cancelled" }>): Maybe<Ran> {
  if (executed.kind === "failed") return failed("tool_failed", executed.message);
  if (executed.kind === "timed_out") {
    return failed("tool_timed_out", `The tool ${tool.name} did not finish within ${tool.timeoutMs} ms.`);
  }
  const read = toOutput(executed.value);
  if (!read.ok) return failed("tool_result_invalid", `The tool ${tool.name} ran, but ${read.problem}.`);
  if (tool.output === null) return read;
  return after(tool.output.check(read.output.value), (checked) => {
    if (checked.ok) return read;
    const message = `The tool ${tool.name} ran, but its result does not fit its schema: ${checked.problem}.`;
    return failed("tool_result_invalid", message);
  });
}

function failed(...why: Parameters<typeof callError>): Ran {
  return { output: callError(...why) };
}

/** Which round of its call an effect is: the end of its key. */
function roundOf(key: string): string {
  return key.slice(key.lastIndexOf("/") + 1);
}

function sameJson(a: JsonObject, b: JsonObject): boolean {
  return a === b || digestOf(a) === digestOf(b);
}

function changedResult(_field: string, value: unknown): string | undefined {
  const output = toOutput(value);
  return output.ok ? undefined : output.problem;
}

/** What a rail put in its place: checked when it did. */
function toValue(value: unknown): Ran {
  const read = toOutput(value);
  return read.ok ? read : failed("tool_result_invalid", read.problem);
}

function withheld(point: HookPoint, rail: string, reason: string): string {
  if (point === "TOOL_ERROR") return "";
  return `[withheld by ${rail}${reason === "" ? "" : `: ${reason}`}]`;
}

/** A result that POST rails did not let pass is held back from everybody; an error has nothing to hide (X3). */
function unseen(output: ToolOutput, why: string): ToolOutput {
  if (output.type === "error") return output;
  return callError("cancelled_unknown", `The tool ran, but its result was withheld: ${why}`);
}

function findCall(run: RunContext, input: ToolInput): ToolCallPart {
  const message = run.message(input.message_id);
  const part =
    message?.role === "assistant"
      ? message.parts.find((one) => one.type === "tool_call" && one.call_id === input.call.id)
      : undefined;
  if (part?.type !== "tool_call") throw new Error(`call ${input.call.id} is in no message`);
  return part;
}

function unknownTool({ agent }: RunContext, name: string, isPlanning: boolean): string {
  const offered = isPlanning ? agent.tools.filter((tool) => !agent.loopTool(tool.name)) : agent.tools;
  const known = offered.map((tool) => tool.name);
  return `There is no tool "${name}". ${known.length > 0 ? `Known tools: ${known.join(", ")}.` : "There are no tools."}`;
}

function notRun(tool: Tool, problem: string): string {
  return `The tool ${tool.name} was not run: ${problem}.`;
}
