/**
 * The services that tests need, found on the machine or installed, each started on a free loopback port with a data
 * directory of its own, and gone when the process that started it ends, however it ends.
 *
 *     import { redisServer, serviceSuite } from "../../../../scripts/services/index.ts";
 *
 *     await serviceSuite("the bus on Redis", redisServer, (redis) => {
 *       test("…", () => connect(redis.url));
 *     });
 *
 * `sharedPostgres`, `sharedRedis` and `sharedTemporal` are one server each for all test files of a run. Use them wherever
 * the test does not kill, stop or configure the server:
 *
 *     await serviceSuite("the store on PostgreSQL", sharedPostgres, (server) => {
 *       test("…", async () => postgres(await server.createDatabase()));
 *     });
 *
 * `serviceSuite` is a `describe` that skips with a printed reason where the service cannot be had, and stops the service
 * after its tests. It is awaited at the top of a test file, because an installation takes longer than a hook may. Without
 * vitest:
 *
 *     const postgres = await postgresServer();          // { durable: true } keeps fsync on
 *     if ("missing" in postgres) return say(postgres.missing);
 *     const url = await postgres.createDatabase();      // one for each test file, or each test
 *     await postgres.restart();                         // clean stop and start, same port, same data
 *     await postgres.kill();                            // SIGKILL; `restart()` brings it back
 *     process.kill(postgres.pid, "SIGSTOP");            // frozen; `stop()` ends it all the same
 *     await postgres.stop();                            // for good: the data directory is removed
 *
 *     const temporal = await temporalServer();          // { address, namespace: "default", program, … }
 *     await Connection.connect({ address: temporal.address });
 *     await temporal.kill();                            // workflows survive this and `restart()`
 *
 * Temporal is the program in `TEMPORAL_CLI_PATH`, else `temporal` on the PATH, else our copy in `~/.cache/trackside`, which
 * is downloaded or built with Go where it is missing. `ServicesSequencer` begins that with the tests, beside other suites.
 *
 *     const chromium = await chromiumBrowser();         // { program, flags, dir, stop }: a program that the caller starts
 *     const { url } = await sharedChromium();           // one browser for the whole run: `chromium.connect(url)`
 *
 * `TRACKSIDE_SERVICES=found` installs nothing. With `CI=true` a missing service is an error, so that CI hides nothing.
 */
export { chromiumBrowser } from "./chromium.ts";
export { postgresServer } from "./postgres.ts";
export { redisServer } from "./redis.ts";
export { sharedChromium, sharedPostgres, sharedRedis, sharedTemporal } from "./shared.ts";
export { serviceSuite } from "./suite.ts";
export { temporalServer } from "./temporal.ts";
