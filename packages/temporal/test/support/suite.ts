import { afterAll, beforeAll } from "vitest";
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

export interface Here {
  readonly place: Place;
  readonly temporal: TemporalService;
  /** Another task queue with a database of its own. */
  another(): Promise<Place>;
}

/** Tests that need all the servers. Each file has its own; `place` is there once the tests begin. */
export async function placeSuite(
  title: string,
  { settings, live = false }: PlaceOptions,
  body: (here: Here) => void,
): Promise<void> {
  const provide = () => temporalServer(settings === undefined ? {} : { settings });
  await serviceSuite(title, provide, (temporal) => {
    const places: Place[] = [];
    let open: () => Promise<Place>;
    const stops: (() => Promise<void>)[] = [];
    beforeAll(async () => {
      const postgres = await postgresServer();
      if ("missing" in postgres) throw new Error(postgres.missing);
      stops.push(() => postgres.stop());
      const redis = live ? await redisServer() : undefined;
      if (redis !== undefined && "missing" in redis) throw new Error(redis.missing);
      if (redis !== undefined) stops.push(() => redis.stop());
      open = async () => {
        const database = await postgres.createDatabase();
        const servers = { address: temporal.address, database, ...(redis ? { redis: redis.url } : {}) };
        const place = await Place.open(servers);
        places.push(place);
        return place;
      };
      await open();
    });
    afterAll(async () => {
      for (const place of places) await place.close();
      for (const stop of stops) await stop();
    });
    body({
      temporal,
      get place() {
        const [place] = places;
        if (place === undefined) throw new Error("the servers are not up yet: use it in tests");
        return place;
      },
      another: () => open(),
    });
  });
}
