import {
  Agent,
  type EngineOptions,
  KNOWN_PROVIDERS,
  localEngine,
  MODEL_TABLE,
  TracksideError,
} from "trackside";
import { appendAudit } from "../audit/index.ts";
import { checkUrl, guardedFetch } from "../net/index.ts";
import { DEFAULT_TENANT } from "../runs/runs.ts";
import type { Cipher, Secrets } from "../secrets/index.ts";
import { changed, rows, type Store } from "../store/index.ts";
import { keyFromEnvironment, needsKey } from "./environment.ts";

/** What may be known of a provider: where its key is from, never the key. */
export interface ProviderFacts {
  readonly name: string;
  readonly key: "stored" | "environment" | "config" | null;
  readonly needs_key: boolean;
  readonly base_url: string | null;
  readonly updated_at: number | null;
}

export interface ProviderTest {
  readonly ok: boolean;
  readonly model: string;
  readonly duration_ms: number;
  /** Short, and without keys. */
  readonly error: string | null;
}

type Settings = NonNullable<EngineOptions["providers"]>[string];

export interface ProvidersInit {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly cipher: Cipher;
  readonly now: () => number;
  /** As the host was made with; what is set here goes before it. */
  readonly configured: Readonly<Record<string, Settings>>;
  /** What the engine reads when it makes a model. Ours to change. */
  readonly inUse: Record<string, Settings>;
  readonly models: EngineOptions["models"];
  /** Hosts that an address may lead to though they are not on the public internet: `host:port`. */
  readonly allow: readonly string[];
  readonly open: () => Promise<void>;
}

const KEY = "provider.";
/** Where model servers of one's own are, unless they were told otherwise. */
const LOCAL = ["11434", "1234", "4000", "8000"].flatMap((port) => [`127.0.0.1:${port}`, `localhost:${port}`]);
const TEST_MS = 20_000;
const SHOWN = 300;

/** Keys and addresses of providers, for all tenants: they are the host's. Keys go in and are used, never read back. */
export class Providers {
  readonly #init: ProvidersInit;
  readonly #stored = new Map<string, { key: boolean; base_url: string | null; updated_at: number }>();

  /** Requests to addresses that people entered: where they lead is looked at each time, since names can be pointed elsewhere. */
  readonly #fetch: typeof globalThis.fetch;

  constructor(init: ProvidersInit) {
    this.#init = init;
    this.#fetch = guardedFetch({ allow: [...LOCAL, ...init.allow] });
  }

  /** Puts what is stored to use; when the host opens. */
  async load(): Promise<void> {
    const { secrets, store } = this.#init;
    for (const { name, updated_at } of await secrets.list(DEFAULT_TENANT))
      if (name.startsWith(KEY)) {
        const provider = name.slice(KEY.length);
        this.#note(provider, { key: true, updated_at });
        this.#use(provider, { apiKey: await secrets.use(DEFAULT_TENANT, name) });
      }
    const found = await store.read((db) => rows(db.selectFrom("provider_addresses").selectAll()));
    for (const { provider, base_url, updated_at } of found) {
      this.#note(provider, { base_url, updated_at });
      this.#use(provider, { baseUrl: base_url, fetch: this.#fetch });
    }
  }

  async list(): Promise<readonly ProviderFacts[]> {
    await this.#init.open();
    return KNOWN_PROVIDERS.map((name) => this.#facts(name));
  }

  async get(provider: string): Promise<ProviderFacts> {
    checkProvider(provider);
    await this.#init.open();
    return this.#facts(provider);
  }

  /** Keeps a key, encrypted. It is used from now on, by other processes at their next start. */
  async setKey(provider: string, key: string, { by }: { readonly by: string }): Promise<void> {
    checkProvider(provider);
    const { open, secrets, now } = this.#init;
    await open();
    await secrets.set(DEFAULT_TENANT, `${KEY}${provider}`, key);
    const apiKey = await secrets.use(DEFAULT_TENANT, `${KEY}${provider}`); // from now on the redactor knows it
    this.#note(provider, { key: true, updated_at: now() });
    this.#use(provider, { apiKey });
    await this.#tell("provider.key_set", provider, by);
  }

  /** Whether there was one. What the configuration or the environment has is used again. */
  async removeKey(provider: string, { by }: { readonly by: string }): Promise<boolean> {
    checkProvider(provider);
    const { open, secrets, now } = this.#init;
    await open();
    const removed = await secrets.remove(DEFAULT_TENANT, `${KEY}${provider}`);
    if (!removed) return false;
    this.#note(provider, { key: false, updated_at: now() });
    this.#use(provider, { apiKey: this.#init.configured[provider]?.apiKey });
    await this.#tell("provider.key_removed", provider, by);
    return true;
  }

  /** Sets the address requests go to; null goes back to the usual one. It has to lead to the public internet, or be allowed. */
  async setBaseUrl(provider: string, baseUrl: string | null, { by }: { readonly by: string }): Promise<void> {
    checkProvider(provider);
    const { open, store, now, configured } = this.#init;
    if (baseUrl !== null) await checkUrl(baseUrl, { allow: [...LOCAL, ...this.#init.allow] });
    await open();
    const updated_at = now();
    await store.write(function* (db) {
      yield* changed(db.deleteFrom("provider_addresses").where("provider", "=", provider));
      if (baseUrl !== null)
        yield* changed(
          db.insertInto("provider_addresses").values({ provider, base_url: baseUrl, updated_at }),
        );
    });
    this.#note(provider, { base_url: baseUrl, updated_at });
    const before = { baseUrl: configured[provider]?.baseUrl, fetch: configured[provider]?.fetch };
    this.#use(provider, baseUrl === null ? before : { baseUrl, fetch: this.#fetch });
    await this.#tell(baseUrl === null ? "provider.address_removed" : "provider.address_set", provider, by);
  }

  /** Asks a provider for an answer of a few tokens, the way a run would. */
  async test(
    provider: string,
    { model, signal }: { readonly model?: string | undefined; readonly signal?: AbortSignal } = {},
  ): Promise<ProviderTest> {
    checkProvider(provider);
    await this.#init.open();
    const { inUse, models, secrets, now } = this.#init;
    const named =
      model === undefined ? cheapest(provider) : model.includes(":") ? model : `${provider}:${model}`;
    if (named === undefined || !named.startsWith(`${provider}:`))
      throw new TracksideError(
        "config_invalid",
        `model: a model of ${provider} expected, such as "${provider}:name"; ${model === undefined ? "none is known, so name one" : "another provider's given"}.`,
      );
    const engine = localEngine({ providers: inUse, ...(models ? { models } : {}), retry: { retries: 0 } });
    // The least that every provider takes.
    const asking = new Agent({ name: "connection-test", model: named, maxTokens: 16, maxSteps: 1 });
    const timeout = AbortSignal.timeout(TEST_MS);
    const stop = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    const startedAt = now();
    const facts = (error: string | null): ProviderTest => ({
      ok: error === null,
      model: named,
      duration_ms: Math.max(0, now() - startedAt),
      error,
    });
    try {
      await asking.run("Reply with OK.", { engine, signal: stop });
      return facts(null);
    } catch (error) {
      if (timeout.aborted) return facts(`No answer within ${TEST_MS / 1000} seconds.`);
      // That it wrote more than was asked for, or nothing, is no failure of the connection.
      if (error instanceof TracksideError && error.code === "output_invalid") return facts(null);
      const text = secrets.redactor.text(error instanceof Error ? error.message : String(error));
      return facts(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
    }
  }

  #facts(name: string): ProviderFacts {
    const stored = this.#stored.get(name);
    const configured = this.#init.configured[name];
    const hasConfigured = configured?.apiKey !== undefined && configured.apiKey !== "";
    const outside = hasConfigured ? "config" : keyFromEnvironment(name) ? "environment" : null;
    return {
      name,
      key: stored?.key ? "stored" : outside,
      needs_key: needsKey(name),
      base_url: withoutUserInfo(this.#init.inUse[name]?.baseUrl),
      updated_at: stored?.updated_at ?? null,
    };
  }

  #note(
    provider: string,
    what: Partial<{ key: boolean; base_url: string | null; updated_at: number }>,
  ): void {
    const known = this.#stored.get(provider) ?? { key: false, base_url: null, updated_at: 0 };
    const updated_at = Math.max(known.updated_at, what.updated_at ?? 0);
    this.#stored.set(provider, { ...known, ...what, updated_at });
  }

  /** A new object each time: by that, models made before are known to be outdated. */
  #use(provider: string, change: { readonly [K in keyof Settings]?: Settings[K] | undefined }): void {
    const merged = { ...this.#init.inUse[provider], ...change };
    this.#init.inUse[provider] = Object.fromEntries(
      Object.entries(merged).filter(([, value]) => value !== undefined),
    );
  }

  async #tell(action: string, provider: string, by: string): Promise<void> {
    const { store, cipher, now } = this.#init;
    const event = { tenant: DEFAULT_TENANT, at: now(), action, by, about: { provider } };
    await store.write(appendAudit(cipher, event));
  }
}

/** The known model of a provider that costs least. */
function cheapest(provider: string): string | undefined {
  const known = Object.entries(MODEL_TABLE)
    .filter(([name, { price }]) => name.startsWith(`${provider}:`) && price !== undefined)
    .sort(([, a], [, b]) => (a.price?.input ?? 0) - (b.price?.input ?? 0));
  return known[0]?.[0].replace(/-?\*$/, "");
}

function checkProvider(provider: string): void {
  if (KNOWN_PROVIDERS.some((known) => known === provider)) return;
  const known = KNOWN_PROVIDERS.join(", ");
  throw new TracksideError("not_found", `There is no provider "${provider.slice(0, 80)}". Known: ${known}.`);
}

function withoutUserInfo(url: string | undefined): string | null {
  const parsed = url === undefined ? null : URL.parse(url);
  if (parsed === null) return null;
  parsed.username = "";
  parsed.password = "";
  return parsed.href.replace(/\/$/, "");
}
