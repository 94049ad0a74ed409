import { afterAll, beforeAll } from "vitest";
import {
  serviceSuite,
  sharedPostgres,
  sharedRedis,
  sharedTemporal,
  temporalServer,
} from "../../../../scripts/services/index.ts";
import type { Missing } from "../../../../scripts/services/service.ts";
import type { TemporalOptions, TemporalService } from "../../../../scripts/services/temporal.ts";
import { Place } from "./place.ts";

export interface PlaceOptions {
  /** Live events go over Redis. */
  readonly live?: boolean;
}

export interface Here<S> {
  readonly place: Place;
  readonly temporal: S;
  /** Another task queue with a database of its own. */
  another(): Promise<Place>;
}

/** Tests on the servers of the test run. `place` is there once the tests begin. */
export function placeSuite(
  title: string,
  options: PlaceOptions,
  body: (here: Here<object>) => void,
): Promise<void> {
  return suite(title, sharedTemporal, options, body);
}

/** Tests with a Temporal server of their own, which they kill or which has other settings. */
export function ownServerSuite(
  title: string,
  settings: TemporalOptions["settings"] & object,
  body: (here: Here<TemporalService>) => void,
): Promise<void> {
  return suite(title, () => temporalServer({ settings }), {}, body);
}

async function suite<S extends { readonly address: string }>(
  title: string,
  provide: () => Promise<S | Missing>,
  { live = false }: PlaceOptions,
  body: (here: Here<S>) => void,
): Promise<void> {
  await serviceSuite(title, provide, (temporal) => {
    const places: Place[] = [];
    const open = async () => {
      const postgres = there(await sharedPostgres());
      const redis = live ? { redis: there(await sharedRedis()).url } : {};
      const database = await postgres.createDatabase();
      const place = await Place.open({ address: temporal.address, database, ...redis });
      places.push(place);
      return place;
    };
    beforeAll(open);
    afterAll(async () => {
      for (const place of places) await place.close();
    });
    body({
      temporal,
      get place() {
        const [place] = places;
        if (place === undefined) throw new Error("the servers are not up yet: use it in tests");
        return place;
      },
      another: open,
    });
  });
}

function there<S extends object>(service: S | Missing): S {
  if ("missing" in service) throw new Error(service.missing);
  return service;
}
