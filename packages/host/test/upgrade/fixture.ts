import { readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { DecideInput } from "../../src/index.ts";
import type { Facts } from "./facts.ts";

export const FIXTURES = new URL("./fixtures/", import.meta.url);

/** How a run that was open in the fixture ends. */
export interface ExpectedRun {
  readonly id: string;
  readonly tenant: string;
  /** As it was recorded. */
  readonly recorded: string;
  readonly ends: { readonly status: string; readonly output?: unknown };
}

/** What the test has to know of one recorded database. */
export interface Manifest {
  /** The time of the recording, by the clock of the recording. */
  readonly at: number;
  /** How far that clock was behind, in ms. */
  readonly behind: number;
  /** Every run that was started, by name. */
  readonly runs: Readonly<Record<string, ExpectedRun>>;
  /** What the test decides, by the id of the pending approval. */
  readonly decisions: Readonly<Record<string, { readonly tenant: string; readonly decision: DecideInput }>>;
  /** The wait of a workflow that the test sends something to. */
  readonly wait: { readonly id: string; readonly token: string };
  /** Effects that happen exactly once, over the recording and the test together. */
  readonly once: readonly string[];
  /** Secrets of people and programs, to be let in with. */
  readonly access: { readonly session: string; readonly token: string; readonly password: string };
  /** The schedule that a signed webhook starts. */
  readonly webhook: { readonly id: string; readonly secret: string };
  readonly plans: { readonly half: string; readonly draft: string; readonly done: string };
}

export type Kind = "sqlite" | "postgres";

/** A recorded database, as bytes of a SQLite file or as SQL, and what belongs to it. */
export class Fixture {
  readonly name: string;
  readonly kind: Kind;

  constructor(name: string, kind: Kind) {
    this.name = name;
    this.kind = kind;
  }

  get database(): Buffer {
    return this.#unpacked("database");
  }

  get effects(): string {
    return this.#unpacked("effects").toString();
  }

  get manifest(): Manifest {
    return JSON.parse(this.#unpacked("manifest").toString());
  }

  /** Everything the recording release read from the database. */
  get facts(): Facts {
    return JSON.parse(this.#unpacked("facts").toString());
  }

  #unpacked(part: string): Buffer {
    return gunzipSync(readFileSync(new URL(`${this.name}/${this.kind}/${part}.gz`, FIXTURES)));
  }
}

/** The commits that recorded a fixture. */
export function recordedCommits(): readonly string[] {
  return readdirSync(FIXTURES).sort();
}
