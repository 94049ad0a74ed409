/** The real servers that runs on Temporal need, for one measurement. */
import { randomBytes } from "node:crypto";
import { type PostgresService, postgresServer } from "../../scripts/services/postgres.ts";
import { type RedisService, redisServer } from "../../scripts/services/redis.ts";
import { type TemporalService, temporalServer } from "../../scripts/services/temporal.ts";

/** Where the programs of this folder find what they need. */
export interface Place {
  readonly temporal: string;
  readonly postgres: string;
  readonly redis: string;
  /** For what is encrypted at rest. */
  readonly key: string;
}

export interface Servers {
  readonly place: Place;
  readonly temporal: TemporalService;
  readonly postgres: PostgresService;
  readonly redis: RedisService;
}

/** Commits of PostgreSQL reach the disk, as those of the development server do. */
export async function withServers<T>(use: (servers: Servers) => Promise<T>): Promise<T> {
  const started: { stop(): Promise<void> }[] = [];
  const start = async <S extends object>(service: Promise<S | { readonly missing: string }>): Promise<S> => {
    const one = await service;
    if ("missing" in one) throw new Error(one.missing);
    started.push(one as never); // a service that is not missing can be stopped
    return one as S;
  };
  try {
    const temporal = await start<TemporalService>(temporalServer());
    const postgres = await start<PostgresService>(postgresServer({ durable: true }));
    const redis = await start<RedisService>(redisServer());
    const place = {
      temporal: temporal.address,
      postgres: await postgres.createDatabase(),
      redis: redis.url,
      key: randomBytes(32).toString("base64"),
    };
    return await use({ place, temporal, postgres, redis });
  } finally {
    await Promise.all(started.map((one) => one.stop()));
  }
}
