import { Client, ProtocolError, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { CfWorkerJsonSchemaValidator } from "@modelcontextprotocol/client/validators/cf-worker";
import manifest from "../../package.json" with { type: "json" };
import { answerElicitation, type RunningCall } from "./elicitation.ts";
import { HttpLink } from "./http-link.ts";
import { type HubSettings, MAX_TIMER_MS } from "./options.ts";
import type { ServerConfig } from "./server-config.ts";
import { StdioTransport } from "./stdio-transport.ts";
import { type Listing, listTools } from "./tool-listing.ts";
import { type Link, Wire } from "./wire.ts";

/** What a server may send while it introduces itself and lists its tools. */
const INTRODUCTION_BYTES = 32 * 2 ** 20;
/** A list of tools is asked for again when it is older than this, since not every server tells of changes. */
const LISTING_MAX_AGE_MS = 60_000;
/** How long a server that let a call run out of time gets to show that it is alive. */
const SIGN_OF_LIFE_MS = 5_000;
/** How long a cancellation gets to leave before the connection closes. */
const FLUSH_MS = 2_000;

/** Which servers are known to be of the older era, found out at a price: by their silence, or by their death. */
export type KnownLegacy = Set<string>;

/** An open connection to a server. One run has it at a time. */
export class Connection {
  readonly client: Client;
  readonly config: ServerConfig;
  readonly #settings: HubSettings;
  readonly #link: Link;
  readonly #wire: Wire;
  readonly #calls = new Set<RunningCall>();
  readonly #progress = new Map<string, (update: unknown) => void>();
  #listing: Listing | undefined;
  #listedAt = 0;
  #stale = false;
  #open = true;
  #tokens = 0;
  #doubt: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #onClose: (() => void) | undefined;

  private constructor(config: ServerConfig, settings: HubSettings) {
    this.config = config;
    this.#settings = settings;
    const count = (bytes: number) => this.#wire.count(bytes);
    this.#link = linkTo(config, settings.maxMessageBytes, count);
    this.#wire = new Wire(this.#link, (params) => this.#heard(params));
    this.client = new Client(
      { name: "trackside", version: manifest.version },
      {
        capabilities: { elicitation: { form: {} } },
        versionNegotiation: {
          mode: "auto",
          // A process that is silent is one of the older era, and needs time to be greeted again. A site is down.
          probe: {
            timeoutMs: Math.ceil(settings.deadlines.connectMs / (config.target.kind === "stdio" ? 2 : 1)),
          },
        },
        // The default one compiles schemas of strangers to code.
        jsonSchemaValidator: new CfWorkerJsonSchemaValidator(),
        // Questions inside a result are answered by the call that got them, so that it is known whose they are.
        inputRequired: { autoFulfill: false },
      },
    );
    this.client.onclose = () => this.#closed();
    this.client.onerror = () => undefined; // what matters of it ends the connection or a call
    this.client.setNotificationHandler("notifications/tools/list_changed", () => {
      this.#stale = true;
    });
    this.client.setRequestHandler("elicitation/create", async ({ params }) =>
      answerElicitation([...this.#calls].at(-1), params),
    );
  }

  /** Connects and lists the tools, within the deadline and until `signal`; leaves nothing behind if it cannot. */
  static async open(
    config: ServerConfig,
    settings: HubSettings,
    legacy: KnownLegacy,
    signal: AbortSignal,
  ): Promise<Connection> {
    const until = performance.now() + settings.deadlines.connectMs;
    const left = () => Math.max(1, Math.ceil(until - performance.now()));
    if (legacy.delete(config.poolKey)) {
      const known = await new Connection(config, settings).#connect(left(), true, signal);
      legacy.add(config.poolKey); // still true; after a failure it is found out again
      return known;
    }
    const started = performance.now();
    const first = new Connection(config, settings);
    try {
      await first.#connect(left(), false, signal);
    } catch (error) {
      // Some older servers leave, or fail, when they are asked anything before `initialize`.
      if (!isUndecided(error)) throw error;
      const second = await new Connection(config, settings).#connect(left(), true, signal);
      legacy.add(config.poolKey);
      return second;
    }
    const silent = performance.now() - started >= settings.deadlines.connectMs / 2;
    if (silent && first.client.getProtocolEra() === "legacy") legacy.add(config.poolKey);
    return first;
  }

  get alive(): boolean {
    return this.#open;
  }

  /** Whether another run may have it: nothing is left that could still speak of this one's calls. */
  get clean(): boolean {
    return this.#open && this.#wire.isQuiet && this.#calls.size === 0;
  }

  /** Whether the server knows us by a session, which it may forget. */
  get hasSession(): boolean {
    return this.#wire.sessionId !== undefined;
  }

  get listing(): Listing {
    return this.#listing ?? { tools: [], unusable: [], hasResources: false };
  }

  /** What a person should know about why it does not work. */
  get symptoms(): string[] {
    const said = [];
    if (this.#link.fault !== undefined) said.push(`it ${this.#link.fault}`);
    if (this.#link.noise !== "")
      said.push(`its output has ${JSON.stringify(this.#link.noise)}, which is not MCP`);
    if (this.#link.stderr.length > 0) said.push(`its last words were:\n${this.#link.stderr.join("\n")}`);
    return said;
  }

  onClose(closed: () => void): void {
    this.#onClose = closed;
  }

  /** Whether our own process stays up for it. */
  hold(needed: boolean): void {
    this.#link.hold(needed);
  }

  /** The tools as they are now: asked for again if the server said that they changed, or long ago. */
  async refreshed(): Promise<Listing> {
    await this.#doubt;
    if (!this.#open) throw new Error("the connection is closed");
    if (this.#stale || performance.now() - this.#listedAt > LISTING_MAX_AGE_MS)
      await this.#list(this.#settings.deadlines.connectMs);
    return this.listing;
  }

  /** Registers a call while it runs; its progress goes to `onProgress`. Returns what ends it. */
  begin(call: RunningCall, onProgress: (update: unknown) => void): { token: string; end: () => void } {
    const token = `call-${++this.#tokens}`;
    this.#calls.add(call);
    this.#progress.set(token, onProgress);
    return {
      token,
      end: () => {
        this.#calls.delete(call);
        this.#progress.delete(token);
      },
    };
  }

  /** A call ran out of time: whether the server still lives is found out before the next one. */
  doubt(): void {
    if (this.#doubt !== undefined) return;
    const options = { timeout: SIGN_OF_LIFE_MS };
    const sign =
      this.client.getProtocolEra() === "modern" ? this.client.discover(options) : this.client.ping(options);
    this.#doubt = sign.then(
      () => {
        this.#doubt = undefined;
      },
      async (error: unknown) => {
        this.#doubt = undefined;
        // An error is an answer too.
        if (!(error instanceof ProtocolError)) await this.close();
      },
    );
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#open = false;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FLUSH_MS);
    });
    await Promise.race([this.#wire.flushed(), late]);
    clearTimeout(timer);
    await this.client.close().catch(() => undefined);
    // The client lets go of a transport it failed to connect.
    await this.#link.close().catch(() => undefined);
    this.#closed();
  }

  async #connect(ms: number, legacy: boolean, signal: AbortSignal): Promise<this> {
    signal.throwIfAborted();
    let stop: (() => void) | undefined;
    const over = new Promise<never>((_, reject) => {
      const timer = setTimeout(() => reject(new Error(`it was not ready after ${ms} ms`)), ms);
      const onAbort = () => reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      stop = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
      };
    });
    try {
      this.#wire.allow(INTRODUCTION_BYTES);
      await Promise.race([this.#introduce(ms, legacy), over]);
      this.#wire.allow(Number.POSITIVE_INFINITY);
      if (!this.#open) throw new Error("the connection closed");
      return this;
    } catch (error) {
      await this.close();
      throw new OpenError(error, this.symptoms);
    } finally {
      stop?.();
    }
  }

  async #introduce(ms: number, legacy: boolean): Promise<void> {
    await this.client.connect(this.#wire, { timeout: ms, ...(legacy ? { prior: { kind: "legacy" } } : {}) });
    // Newer servers tell of changes only where somebody listens. Nothing waits for it: it is a courtesy.
    const tells = this.client.getServerCapabilities()?.tools?.listChanged === true;
    if (tells && this.client.getProtocolEra() === "modern")
      this.client.listen({ toolsListChanged: true }, { timeout: ms }).catch(() => undefined);
    await this.#list(ms);
  }

  async #list(ms: number): Promise<void> {
    this.#stale = false; // a change that is told of from here on counts again
    const headers = this.config.target.kind === "http" && this.client.getProtocolEra() === "modern";
    this.#listing = await listTools(this.client, { ms, headers });
    this.#listedAt = performance.now();
  }

  #heard({ progressToken, ...update }: Record<string, unknown>): void {
    if (typeof progressToken === "string") this.#progress.get(progressToken)?.(update);
  }

  #closed(): void {
    this.#open = false;
    const closed = this.#onClose;
    this.#onClose = undefined;
    closed?.();
  }
}

/** A connection could not be made. */
export class OpenError extends Error {
  readonly symptoms: readonly string[];

  constructor(error: unknown, symptoms: readonly string[]) {
    super(error instanceof Error ? error.message : String(error), { cause: error });
    this.symptoms = symptoms;
  }
}

/** The client's own timeout is never the one that counts. */
export const NO_TIMEOUT = MAX_TIMER_MS;

function linkTo({ target }: ServerConfig, maxBytes: number, count: (bytes: number) => void): Link {
  if (target.kind === "stdio") return new StdioTransport(target, maxBytes, count);
  return new HttpLink(target.url, target.headers, maxBytes, count);
}

function isUndecided(error: unknown): boolean {
  const cause = error instanceof OpenError ? error.cause : error;
  return cause instanceof SdkError && cause.code === SdkErrorCode.EraNegotiationFailed;
}
