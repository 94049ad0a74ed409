import {
  type Agent,
  type AgentBinding,
  type AgentEvent,
  type Approval,
  type Engine,
  type EngineOptions,
  type Receipt,
  type RunOptions,
  type RunResult,
  type RunStream,
  type Task,
  type Tool,
  TracksideError,
  type UserInput,
} from "trackside";
import { newId, streamed } from "trackside/engine";
import { Access, type AccessLimits } from "./access/index.ts";
import { Agents, unknownAgent } from "./agents/agents.ts";
import { StoredAgents } from "./agents/stored-agents.ts";
import { Toolkit, type ToolkitOptions } from "./agents/toolkit.ts";
import { Answers } from "./answers/index.ts";
import type { DecideInput } from "./approvals/approvals.ts";
import { type InboxChange, InboxFeed } from "./approvals/feed.ts";
import { approvalListener } from "./approvals/listener.ts";
import type { ApprovalRecord } from "./approvals/records.ts";
import { Artifacts } from "./artifacts/artifacts.ts";
import {
  type AuditEntry,
  type AuditEvent,
  type AuditReport,
  appendAudit,
  type ListAudit,
  listAudit,
  verifyAudit,
} from "./audit/index.ts";
import type { Bus } from "./bus/index.ts";
import { Conversations, findBranch } from "./conversations/conversations.ts";
import { InCode } from "./definitions/in-code.ts";
import { DurableEngine } from "./journal/durable-engine.ts";
import { runBody } from "./journal/row-codecs.ts";
import { LazyHub } from "./mcp/lazy-hub.ts";
import { storedDefinitions } from "./mcp/stored-definitions.ts";
import { Plans } from "./plans/index.ts";
import { Providers } from "./providers/index.ts";
import { Retention, type RetentionRules } from "./retention.ts";
import { type ApprovalRule, approvalRules } from "./rules/index.ts";
import { DEFAULT_TENANT, Runs } from "./runs/runs.ts";
import { type ScheduledElsewhere, Schedules } from "./schedules/index.ts";
import { targetsOf } from "./schedules/targets-of.ts";
import {
  type Cipher,
  cipher,
  defaultKeyring,
  type Keyring,
  passingKeyring,
  Secrets,
} from "./secrets/index.ts";
import { Stats } from "./stats/stats.ts";
import { rows, type Store, type Work } from "./store/index.ts";
import { type Telemetry, type TelemetryOptions, telemetryOf } from "./telemetry/index.ts";
import { type WebhookEndpoint, WebhookSender } from "./webhooks/index.ts";
import { type WorkflowBinding, Workflows } from "./workflows/index.ts";

/** `tools`, `rails`, `hooks` and `mcpServers` are the toolkit of agents made at run time; agents in code bring their own. */
export interface TracksideOptions extends EngineOptions, ToolkitOptions {
  /** `sqlite("trackside.db")` or `postgres(url)`. */
  readonly store: Store;
  readonly agents: readonly Agent<readonly Tool[], never>[] | readonly AgentBinding[];
  /** Workflows in code, made with `defineWorkflow`. */
  readonly workflows?: readonly WorkflowBinding[];
  /** Live events between processes: `redisBus(url)`. In one process nothing is needed. */
  readonly bus?: Bus;
  /** Work that post-hooks defer, by name: it is found again after a restart. */
  readonly tasks?: readonly Task[];
  /** Keys for what is encrypted at rest. Without: TRACKSIDE_SECRET_KEY, or a file beside a SQLite database. */
  readonly keyring?: Keyring;
  /** Told of approvals, signed and retried. */
  readonly webhooks?: readonly WebhookEndpoint[];
  /** Hosts that addresses people enter may lead to though they are not on the public internet: `models.internal:8000`. */
  readonly allowHosts?: readonly string[];
  /** Whether deciders may have a decision remembered. */
  readonly rememberDecisions?: boolean;
  /** After how many days without a new turn a conversation is erased, by tenant; `*` for all others. */
  readonly retention?: RetentionRules;
  /** OpenTelemetry spans and metrics; off unless given. */
  readonly telemetry?: TelemetryOptions;
  /** Told what an operator should know. Default: a warning of the process. */
  readonly notice?: (message: string) => void;
  /** How long sessions and links last. */
  readonly access?: AccessLimits;
  /** Another engine drives the runs, on more than one machine: `temporal({ connection, taskQueue })` (X9). */
  readonly engine?: ScheduledElsewhere;
  /** Whether this process takes up runs that nobody runs: left by another one, or queued. True unless given. */
  readonly claims?: boolean;
}

export interface StartOptions extends RunOptions {
  /** When another run is at work on the conversation: refuse (the default), send it the message, or wait in line (X7). */
  readonly whenBusy?: "refuse" | "steer" | "queue";
  /** Leave it to a worker instead of running it here. */
  readonly queue?: boolean;
  /** With `steer`: whether to wait until the message has joined the run. True unless given. */
  readonly wait?: boolean;
}

/** How a message is sent to a run under way. */
export interface SendToRun {
  readonly tenant?: string;
  /** The same one again is the same message (X10). */
  readonly requestId?: string;
  /** Whether to wait until it has joined the run, as long as that takes. True unless given. */
  readonly wait?: boolean;
}

/** A run that was started: here, on a worker, or before by the same request. */
export interface StartedTurn {
  readonly runId: string;
  readonly conversationId: string;
  readonly result: () => Promise<RunResult<unknown>>;
  /** When the message went to a run under way instead. */
  readonly receipt?: Receipt;
}

/**
 * Agents on a store. Runs, conversations, approvals and the audit outlive the process: kill it at any moment, start it
 * again, and every unfinished run goes on by itself.
 *
 * @example
 * const trackside = new Trackside({ store: sqlite("trackside.db"), agents: [clerk] });
 * const { output } = await trackside.run("clerk", "Refund order 17");
 */
export class Trackside {
  readonly engine: DurableEngine;
  /** Agents in code and those made at run time, with their versions. */
  readonly agents: Agents;
  /** Workflows in code and those made at run time, with their versions. */
  readonly workflows: Workflows;
  /** What agents are to do, as people plan it (W2). */
  readonly plans: Plans;
  /** What agents made at run time may use. */
  readonly toolkit: Toolkit;
  readonly runs: Runs;
  readonly conversations: Conversations;
  readonly approvals: ApprovalInbox;
  readonly audit: AuditLog;
  readonly artifacts: Artifacts;
  /** First answers of requests that may come again (X10). */
  readonly answers: Answers;
  /** Who is let in, and what they may do. */
  readonly access: Access;
  /** What became of runs, in numbers. */
  readonly stats: Stats;
  /** What starts by the clock, or when a signed webhook comes. */
  readonly schedules: Schedules;
  /** Provider keys and the like, encrypted. Written and used, never read back. */
  readonly secrets: Secrets;
  /** Keys and addresses of model providers. */
  readonly providers: Providers;
  readonly #options: TracksideOptions;
  readonly #stored: StoredAgents;
  /** Agents in code, by name: they come before stored ones. */
  readonly #code: ReadonlyMap<string, AgentBinding>;
  readonly #cipher: Cipher;
  readonly #sender: WebhookSender | undefined;
  /** Read when a model is first used: keys from the store are put in when it opens. */
  readonly #providers: Record<string, NonNullable<EngineOptions["providers"]>[string]>;
  /** MCP servers of its agents, unless it was given others to ask. */
  readonly #hub: LazyHub;
  #retention: Retention | undefined;
  #telemetry: Telemetry | undefined;
  #opening: Promise<void> | undefined;

  constructor(options: TracksideOptions) {
    checkOptions(options);
    this.#options = options;
    const { store, agents, webhooks = [] } = options;
    const keys =
      options.keyring ??
      (store.keyFile === null
        ? passingKeyring()
        : defaultKeyring(store.keyFile === undefined ? {} : { file: store.keyFile }));
    this.#cipher = cipher(keys);
    const box = this.#cipher;
    const tell = options.notice ?? ((message: string) => process.emitWarning(message, "TracksideNotice"));
    const notice = (message: string) => tell(this.secrets.redactor.text(message));
    const rules = approvalRules({ cipher: box, enabled: options.rememberDecisions ?? true });
    const clock = options.clock;
    this.#sender =
      webhooks.length === 0
        ? undefined
        : new WebhookSender({ store, cipher: box, endpoints: webhooks, ...(clock ? { clock } : {}) });
    this.#providers = { ...options.providers };
    this.#hub = new LazyHub({
      secrets: (name, { tenant }) => this.secrets.use(tenant, name),
      definitions: storedDefinitions(store, () => this.engine.clock.now()),
    });
    this.toolkit = new Toolkit(options);
    const { engine: elsewhere, ...rest } = options;
    this.engine = new DurableEngine({
      toolServers: this.#hub,
      ...rest,
      ...(elsewhere === undefined ? {} : { elsewhere, claims: false }),
      providers: this.#providers,
      agents: [...(agents as readonly AgentBinding[]), ...(options.workflows ?? [])],
      toolkit: this.toolkit,
      notice,
      sealer: () => ({
        seal: (text, context) => box.sealText(text, ["reasoning", context]),
        open: (sealed, context) => box.openText(sealed, ["reasoning", context]),
      }),
      listener: approvalListener({
        cipher: box,
        rules,
        endpoints: webhooks,
        now: () => this.engine.clock.now(),
        queued: () => this.#sender?.wake(),
      }),
      ...(options.telemetry === undefined
        ? {}
        : {
            observe: (event) => {
              if ("seq" in event) this.#telemetry?.onEvent(event);
            },
            onRunning: ({ recovered, ...run }) => {
              if (recovered) this.#telemetry?.onRecovered(run);
              else this.#telemetry?.onRun(run);
              const traceparent = recovered ? undefined : this.#telemetry?.traceparent(run.run_id);
              if (traceparent !== undefined) store.write(keepTrace(run.run_id, traceparent)).catch(() => {}); // a trace that breaks is no failure
            },
          }),
      onLate: (tenant, run, { call_id, tool, outcome }) => {
        const about = { run, call: call_id, tool, outcome };
        this.#record({
          tenant,
          at: this.engine.clock.now(),
          action: "tool.late_outcome",
          by: "engine",
          about,
        });
      },
      onDeferredError: (error, task, { tenant, runId: run }) => {
        notice(`the deferred task ${task} failed: ${error instanceof Error ? error.message : String(error)}`);
        options.onDeferredError?.(error, task, { tenant, runId: run });
        const at = this.engine.clock.now();
        this.#record({ tenant, at, action: "task.failed", by: "engine", about: { run, task } });
      },
      onUnregisteredTask: (task) =>
        notice(
          `deferred work waits for the task "${task}", which is not registered here: pass it in \`tasks\``,
        ),
    });
    const code = agents as readonly AgentBinding[];
    this.#code = new Map(code.map((agent) => [agent.definition.name, agent]));
    this.#stored = new StoredAgents(store, this.toolkit, (name) => this.#code.get(name));
    this.agents = new Agents({
      engine: this.engine,
      toolkit: this.toolkit,
      cipher: box,
      code,
      open: () => this.open(),
    });
    this.workflows = new Workflows({
      engine: this.engine,
      toolkit: this.toolkit,
      cipher: box,
      agents: new InCode("agent", code, this.engine.clock.now()),
      stored: this.#stored,
      begin: (found, input, { queue, ...asked }) =>
        this.#begin(found, this.engine.read(found.binding, input, asked, false), { queue }),
      code: options.workflows ?? [],
      open: () => this.open(),
    });
    this.secrets = new Secrets(store, box);
    this.providers = new Providers({
      store,
      secrets: this.secrets,
      cipher: box,
      now: () => this.engine.clock.now(),
      configured: options.providers ?? {},
      inUse: this.#providers,
      models: options.models,
      allow: options.allowHosts ?? [],
      open: () => this.open(),
    });
    // What is sent and stored is JSON, which is all a redactor asks for.
    this.runs = new Runs(this.engine, (value) => this.secrets.redactor.json(value as never));
    this.plans = new Plans({
      engine: this.engine,
      agents: this.agents,
      toolkit: this.toolkit,
      runs: this.runs,
      cipher: box,
      code,
      find: (name, tenant) => this.#agent(name, { tenant }),
      redact: (value) => this.secrets.redactor.json(value as never), // JSON, as for runs
      open: () => this.open(),
      notice,
    });
    this.conversations = new Conversations(this.engine, (agent, input, sending) =>
      this.start(agent, input, sending),
    );
    this.approvals = new ApprovalInbox(this.engine, rules);
    this.audit = new AuditLog(this.engine, box);
    this.artifacts = new Artifacts(this.engine);
    this.answers = new Answers(store, box, () => this.engine.clock.now());
    this.access = new Access({ ...options.access, store, cipher: box, now: () => this.engine.clock.now() });
    this.stats = new Stats(this.engine);
    this.schedules = new Schedules({
      engine: this.engine,
      cipher: box,
      targets: targetsOf(this),
      mirror: elsewhere?.schedules,
      open: () => this.open(),
      notice,
    });
  }

  /**
   * Opens the store and takes up what was left. Everything else does this when it is first needed. `claims` stands in for
   * the one it was made with: a command that only looks or decides takes up nothing.
   */
  open(options: { readonly claims?: boolean } = {}): Promise<void> {
    this.#opening ??= this.#open(options);
    return this.#opening;
  }

  async #open(options: { readonly claims?: boolean }): Promise<void> {
    this.#telemetry = await telemetryOf(this.#options.telemetry);
    await this.engine.store.open();
    this.#cipher.keyring.current(); // a missing key is said now, not at the first approval
    await this.providers.load();
    this.plans.register(); // before runs are taken up
    await this.engine.open(options);
    this.#sender?.start();
    this.#retention = new Retention(this.engine, this.#options.retention ?? {});
    this.#retention.start();
    if (options.claims ?? this.#options.claims ?? true) this.plans.start();
    if (options.claims ?? this.#options.claims ?? true) this.schedules.start();
  }

  /** What drives the runs: `local` for the processes that share the store, else the name of another engine. */
  get engineName(): string {
    return this.#options.engine?.name ?? "local";
  }

  /** Windows and prices that go before the built-in ones. */
  get modelTable(): NonNullable<EngineOptions["modelTable"]> {
    return this.#options.modelTable ?? {};
  }

  /** Keeps a provider's key, encrypted. It is used from now on, by every process at its next start, and never shown. */
  async setProviderKey(provider: string, key: string): Promise<void> {
    await this.providers.setKey(provider, key, { by: "host" });
  }

  #record(event: AuditEvent): void {
    this.engine.store
      .write(appendAudit(this.#cipher, event))
      .catch((error: unknown) =>
        this.#options.notice?.(
          `the audit could not be written: ${error instanceof Error ? error.message : error}`,
        ),
      );
  }

  /**
   * Leaves every run where it is: the next process goes on with it. With `graceMs` tools that are running may finish first,
   * so that nobody has to be asked what came of them.
   */
  async close(options: { readonly graceMs?: number } = {}): Promise<void> {
    await this.#opening?.catch(() => {});
    this.#retention?.stop();
    await this.plans.stopWorking();
    await this.schedules.stop();
    await this.#sender?.stop();
    await this.engine.close(options);
    await this.#hub.close();
    this.#telemetry?.close();
  }

  /** Runs one turn to its end. Rejects with the run's error, which carries what there is as `.result`. */
  async run(agent: string, input: UserInput, options: StartOptions = {}): Promise<RunResult<unknown>> {
    const started = await this.start(agent, input, options);
    return started.result();
  }

  /** Starts a turn and answers as soon as it is durable. */
  async start(agent: string, input: UserInput, options: StartOptions = {}): Promise<StartedTurn> {
    await this.open();
    const { whenBusy = "refuse", queue = false, wait = true, ...runOptions } = options;
    const { id: agentId, binding: found } = await this.#agent(agent, runOptions.scope);
    const request = this.engine.read(found, input, runOptions, false);
    const { tenant } = request.scope;
    const { conversation } = request;
    if (whenBusy === "steer" && conversation !== undefined) {
      const id = typeof conversation === "string" ? conversation : conversation.id;
      const { active_run_id } = await this.engine.store.read((db) => findBranch(db, tenant, id));
      if (active_run_id !== null) {
        const receipt = await this.engine.steer(tenant, active_run_id, input, {
          requestId: request.requestId,
          wait,
        });
        const { runId } = receipt;
        return { runId, conversationId: id, receipt, result: () => this.engine.result(tenant, runId) };
      }
    }
    return this.#begin({ binding: found, ...(agentId === undefined ? {} : { id: agentId }) }, request, {
      queue,
      ...(whenBusy === "queue" ? { whenBusy } : {}),
    });
  }

  async #begin(
    { id: agentId, binding }: Named,
    request: ReturnType<DurableEngine["read"]>,
    { queue = false, ...busy }: { readonly queue?: boolean | undefined; readonly whenBusy?: "queue" },
  ): Promise<StartedTurn> {
    const given = { runId: newId("run"), turnRef: newId("turn"), owned: !queue, agentId };
    const { signal } = request;
    const started = await this.engine.begin(binding, request, { ...given, ...busy });
    const { runId, conversationId, result } = started;
    signal?.addEventListener("abort", () => void this.engine.cancel(runId, "aborted by the caller"), {
      once: true,
    });
    return { runId, conversationId, result };
  }

  /** Runs one turn and yields its events as they happen, as `agent.stream()` does. */
  stream(agent: string, input: UserInput, options: RunOptions = {}): RunStream<string, readonly Tool[]> {
    const found = this.#code.get(agent) as Agent<readonly Tool[], never> | undefined;
    const stream =
      found === undefined
        ? streamed((sink) =>
            this.engine.startFound(() => this.#found(agent, options?.scope), input, options, sink),
          )
        : found.stream(input, { ...options, engine: this.engine as Engine });
    return stream as RunStream<string, readonly Tool[]> & AsyncIterable<AgentEvent<readonly Tool[]>>;
  }

  async #found(name: string, scope: RunOptions["scope"]): Promise<Named> {
    await this.open();
    return this.#agent(name, scope);
  }

  /** Sends a message to a run under way. It joins at the next step, or opens the next turn; the receipt says which. */
  async steer(
    runId: string,
    input: UserInput,
    { tenant = DEFAULT_TENANT, ...how }: SendToRun = {},
  ): Promise<Receipt> {
    await this.open();
    return this.engine.steer(tenant, runId, input, how);
  }

  /** Adds a note to the next model call of a run, and to no other. It is dropped if the run makes none. */
  async inject(
    runId: string,
    note: UserInput,
    { tenant = DEFAULT_TENANT, ...how }: SendToRun = {},
  ): Promise<Receipt> {
    await this.open();
    return this.engine.steer(tenant, runId, note, { ...how, once: true });
  }

  /** An agent in code, one of the tenant's own, or one that this process was given with a run. */
  async #agent(name: string, scope: RunOptions["scope"]): Promise<Named> {
    const code = this.#code.get(name);
    if (code !== undefined) return { binding: code };
    // Whether the scope is one is found out with the rest of the request.
    const tenant = typeof scope?.["tenant"] === "string" ? scope["tenant"] : DEFAULT_TENANT;
    const stored = await this.#stored.find(tenant, name);
    if (stored !== undefined) return stored;
    const given = this.engine.registry.get(name);
    if (given !== undefined) return { binding: given };
    const known = await this.agents.list({ tenant, limit: 20 });
    throw unknownAgent(
      name,
      known.map((one) => one.name),
    );
  }
}

/** An agent by its name; a stored one has an id. */
interface Named {
  readonly id?: string;
  readonly binding: AgentBinding;
}

/** What waits for a human, and what was decided. */
export class ApprovalInbox {
  readonly #engine: DurableEngine;
  readonly #rules: ReturnType<typeof approvalRules>;
  readonly #feed: InboxFeed;

  constructor(engine: DurableEngine, rules: ReturnType<typeof approvalRules>) {
    this.#engine = engine;
    this.#rules = rules;
    this.#feed = new InboxFeed(engine);
  }

  /** What is asked and decided as it happens, whoever asks and wherever it is decided: within a second. */
  changes(options: {
    readonly tenant?: string;
    /** From this time on, in Unix ms, as a change before it said; from now unless given. */
    readonly after?: number | undefined;
    readonly signal: AbortSignal;
  }): AsyncGenerator<InboxChange> {
    const { tenant = DEFAULT_TENANT, ...rest } = options;
    return this.#feed.changes(tenant, rest);
  }

  /** Those that wait, the oldest first; with `state` others. */
  async list(
    filter: {
      readonly tenant?: string;
      readonly state?: Approval["state"] | "all";
      readonly runId?: string;
      /** Those of a run and its sub-agents. */
      readonly rootRunId?: string;
      /** Those that come after this one in the list. */
      readonly after?: string;
      readonly newestFirst?: boolean;
      readonly limit?: number;
    } = {},
  ): Promise<readonly ApprovalRecord[]> {
    await this.#engine.open();
    const { tenant = DEFAULT_TENANT, state = "pending", limit = 100, ...rest } = filter;
    return this.#engine.approvals.list({
      tenant,
      state: state === "all" ? undefined : state,
      limit,
      ...rest,
    });
  }

  async get(id: string, { tenant = DEFAULT_TENANT } = {}): Promise<Approval> {
    await this.#engine.open();
    const found = await this.#engine.approvals.get(tenant, id);
    if (found === undefined) throw new TracksideError("approval_unknown", `There is no approval ${id}`);
    return found;
  }

  /** Decides one. The first decision wins; the same again answers the same record, another one is told who won (L4). */
  async decide(id: string, decision: DecideInput, { tenant = DEFAULT_TENANT } = {}): Promise<Approval> {
    return this.#engine.decide(tenant, id, decision);
  }

  /** Decisions that are remembered. */
  async rules({ tenant = DEFAULT_TENANT, revoked = false } = {}): Promise<readonly ApprovalRule[]> {
    await this.#engine.open();
    return this.#engine.store.read(this.#rules.list(tenant, { revoked }));
  }

  async revokeRule(
    id: string,
    { tenant = DEFAULT_TENANT, by, reason }: { tenant?: string; by: string; reason?: string },
  ): Promise<ApprovalRule> {
    await this.#engine.open();
    const now = this.#engine.clock.now();
    const revoked = { by, ...(reason === undefined ? {} : { reason }) };
    return this.#engine.store.write(this.#rules.revoke(tenant, id, revoked, now));
  }
}

/** Who did what: append-only, hash-chained, digests only. */
export class AuditLog {
  readonly #engine: DurableEngine;
  readonly #cipher: Cipher;

  constructor(engine: DurableEngine, box: Cipher) {
    this.#engine = engine;
    this.#cipher = box;
  }

  async list({
    tenant = DEFAULT_TENANT,
    ...filter
  }: ListAudit & { tenant?: string } = {}): Promise<readonly AuditEntry[]> {
    await this.#engine.open();
    return listAudit(this.#engine.store, tenant, filter);
  }

  /** Finds an edited, deleted, inserted or reordered row. */
  async verify({ tenant = DEFAULT_TENANT } = {}): Promise<AuditReport> {
    await this.#engine.open();
    return verifyAudit(this.#engine.store, this.#cipher, tenant);
  }
}

/** Keeps a run's trace with it, for whoever takes the run up. */
function keepTrace(runId: string, traceparent: string): Work<void> {
  return function* (db) {
    const [row] = yield* rows(db.selectFrom("runs").select("body").where("id", "=", runId));
    if (row === undefined) return;
    const body = runBody.write({ ...runBody.read(row.body, runId), traceparent });
    yield* rows(db.updateTable("runs").set({ body }).where("id", "=", runId));
  };
}

function checkOptions(options: TracksideOptions): void {
  const { store, agents } = options;
  if (typeof store?.append !== "function")
    throw new TracksideError(
      "config_invalid",
      'store: a store expected, such as sqlite("trackside.db") or postgres(url)',
    );
  if (!Array.isArray(agents))
    throw new TracksideError("config_invalid", "agents: a list of agents expected, such as [clerk]");
}
