import { afterAll, beforeAll, expect } from "vitest";
import {
  postgresServer,
  redisServer,
  serviceSuite,
  temporalServer,
} from "../../../../scripts/services/index.ts";
import type { TemporalOptions, TemporalService } from "../../../../scripts/services/temporal.ts";
import { Place } from "./place.ts";

export interface PlaceOptions {
  /** Settings of the Temporal server. */
  readonly settings?: TemporalOptions["settings"];
  /** Live events go over Redis. */
  readonly live?: boolean;
}

/** Tests that need all the servers. Each file has its own; `place` is there once the tests begin. */
export async function placeSuite(
  title: string,
  { settings, live = false }: PlaceOptions,
  body: (here: { readonly place: Place; readonly temporal: TemporalService }) => void,
): Promise<void> {
  const provide = () => temporalServer(settings === undefined ? {} : { settings });
  await serviceSuite(title, provide, (temporal) => {
    let place: Place | undefined;
    const stops: (() => Promise<void>)[] = [];
    beforeAll(async () => {
      const postgres = await postgresServer();
      if ("missing" in postgres) throw new Error(postgres.missing);
      stops.push(() => postgres.stop());
      const redis = live ? await redisServer() : undefined;
      if (redis !== undefined && "missing" in redis) throw new Error(redis.missing);
      if (redis !== undefined) stops.push(() => redis.stop());
      const database = await postgres.createDatabase();
      const servers = { address: temporal.address, database, ...(redis ? { redis: redis.url } : {}) };
      place = await Place.open(servers);
    });
    afterAll(async () => {
      await place?.close();
      for (const stop of stops) await stop();
    });
    body({
      temporal,
      get place() {
        expect(place).toBeDefined();
        return place as Place; // as just seen
      },
    });
  });
}
