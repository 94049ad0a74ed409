import pg from "pg";
import { postgres } from "../../../src/store/index.ts";

/** Databases for crash points, copied from one that has its tables: making the tables anew costs more than a life. */
export class PostgresPlaces {
  readonly #admin: pg.Client;
  readonly #url: string;
  readonly #made: string[] = [];
  #last = 0;

  private constructor(admin: pg.Client, url: string) {
    this.#admin = admin;
    this.#url = url;
  }

  static async open(server: { createDatabase(): Promise<string> }): Promise<PostgresPlaces> {
    const url = await server.createDatabase();
    const store = postgres(url);
    await store.open();
    await store.close();
    const admin = new pg.Client(withDatabase(url, "postgres"));
    await admin.connect();
    return new PostgresPlaces(admin, url);
  }

  async create(): Promise<string> {
    this.#last += 1;
    const template = new URL(this.#url).pathname.slice(1);
    const name = `${template}_${this.#last}`;
    this.#made.push(name);
    await this.#admin.query(`CREATE DATABASE "${name}" TEMPLATE "${template}"`);
    return withDatabase(this.#url, name);
  }

  /** Removes the databases made so far, and whatever is still connected to them. */
  async clear(): Promise<void> {
    for (const name of this.#made.splice(0)) await this.#admin.query(`DROP DATABASE "${name}" WITH (FORCE)`);
  }

  close(): Promise<void> {
    return this.#admin.end();
  }
}

function withDatabase(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}
