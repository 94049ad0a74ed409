import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { fixture } from "../fixture.ts";
import { isAlive } from "./lock-file.ts";
import { needs } from "./sequencer.ts";
import { temporalServer as provideServer } from "./temporal.ts";
import { buildTemporal } from "./temporal-build.ts";
import { cachedCopy, findTemporal, provideTemporal } from "./temporal-program.ts";
import { TEMPORAL_CLI_VERSION } from "./temporal-version.ts";
import { inWorkFolder } from "./work-folder.ts";

const PATIENCE = { timeout: 60_000 };
/** No place of this machine: nothing here is downloaded or built in earnest. */
const NOWHERE = { packages: [], goPlaces: [] };

let root: string;
beforeEach(() => {
  root = fixture({ "path/other": "" });
  vi.stubEnv("CI", "");
  vi.stubEnv("TRACKSIDE_SERVICES", "");
  vi.stubEnv("TEMPORAL_CLI_PATH", "");
  vi.stubEnv("PATH", join(root, "path"));
  vi.stubEnv("XDG_CACHE_HOME", join(root, "cache"));
  const said = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    said.mockRestore();
  });
});

test("Temporal is the chosen program, else the one on the PATH, else our copy in the cache", () => {
  expect(findTemporal()).toBeUndefined();
  const cached = script(cachedCopy());
  expect(findTemporal()).toBe(cached);
  const onPath = script(join(root, "path/temporal"));
  expect(findTemporal()).toBe(onPath);
  const chosen = script(join(root, "mine"));
  vi.stubEnv("TEMPORAL_CLI_PATH", chosen);
  expect(findTemporal()).toBe(chosen);
});

test("the name of our copy says which version and machine it is for", () => {
  const name = `temporal-${TEMPORAL_CLI_VERSION}-${process.platform}-${process.arch}`;
  expect(cachedCopy()).toBe(join(root, "cache/trackside", name));
  vi.stubEnv("XDG_CACHE_HOME", "relative");
  expect(cachedCopy()).toBe(join(homedir(), ".cache/trackside", name));
});

test("the version is that of the Go module", () => {
  const module = readFileSync(join(import.meta.dirname, "temporal-cli/go.mod"), "utf8");
  expect(module).toContain(`github.com/temporalio/cli v${TEMPORAL_CLI_VERSION}`);
});

test("a chosen program that cannot be run is reported, not passed over", async () => {
  script(join(root, "path/temporal"));
  vi.stubEnv("TEMPORAL_CLI_PATH", join(root, "path/other"));
  const said =
    /^Temporal: TEMPORAL_CLI_PATH is .*path\/other, which is no program that can be run; to have it: /;
  expect(await provideServer()).toEqual({ missing: expect.stringMatching(said) });
  vi.stubEnv("CI", "true");
  await expect(provideServer()).rejects.toThrow(/path\/other.*CI=true/);
});

test("TRACKSIDE_SERVICES=found builds nothing", async () => {
  const { calls } = fakeGo();
  vi.stubEnv("TRACKSIDE_SERVICES", "found");
  expect(await provideTemporal(NOWHERE)).toBe("not found, and TRACKSIDE_SERVICES=found");
  expect(calls()).toEqual([]);
});

test("it is built once when many ask, and nothing else is left in the cache", async () => {
  const { calls } = fakeGo();
  const all = await Promise.all([1, 2, 3].map(() => provideTemporal(NOWHERE)));
  expect(all).toEqual([undefined, undefined, undefined]);
  expect(findTemporal()).toBe(cachedCopy());
  expect(calls()).toEqual([expect.stringMatching(/^build -mod=readonly .*\/cmd\/temporal$/)]);
  expect(readdirSync(dirname(cachedCopy()))).toEqual([basename(cachedCopy())]);
});

test("a build that fails says what Go said, and is not tried again by the next one who asks", async () => {
  const { calls } = fakeGo({ build: "echo one; echo no space left >&2; exit 3" });
  const first = await provideTemporal(NOWHERE);
  expect(first).toMatch(
    /Temporal CLI .* with Go 1\.99\.0 could not be built: it exited with 3: .*no space left/,
  );
  const second = await provideTemporal(NOWHERE);
  const [, remembered = ""] = /\(remembered in (.+)\)$/.exec(second ?? "") ?? [];
  onTestFinished(() => rmSync(remembered, { force: true }));
  expect(second).toContain("no space left");
  expect(calls()).toHaveLength(1);
  expect(readdirSync(dirname(cachedCopy()))).toEqual([]);
});

test("a Go that is too old is named; a newer one is found off the PATH", async () => {
  fakeGo({ version: "1.26.3" });
  const nothing = await provideTemporal(NOWHERE);
  expect(nothing).toContain("there is no Go 1.26.4 or newer");
  expect(nothing).toContain(`${join(root, "path/go")} is 1.26.3`);

  const { calls } = fakeGo({ folder: "elsewhere/go1.26.10/bin", version: "1.26.10" });
  const target = join(root, "cache/built");
  expect(await buildTemporal(target, { goPlaces: [join(root, "elsewhere/go*/bin")] })).toBeUndefined();
  expect(existsSync(target)).toBe(true);
  expect(calls()).toHaveLength(1);
});

test("something else called go is no Go", async () => {
  script(join(root, "path/go"), "echo a game; exit 0");
  expect(await provideTemporal(NOWHERE)).toMatch(/there is no Go 1\.26\.4 or newer to build it with$/);
});

test("the download of Temporal's own library comes before a build", async () => {
  const { calls } = fakeGo();
  const packages = [fakeLibrary("writeFileSync(join(downloadDir, version), '', { mode: 0o755 })")];
  expect(await provideTemporal({ ...NOWHERE, packages })).toBeUndefined();
  expect(findTemporal()).toBe(cachedCopy());
  expect(calls()).toEqual([]);
});

test("where that download fails it is built, and where neither works both are told", async () => {
  const packages = [fakeLibrary("throw new Error('no way out')")];
  const nothing = await provideTemporal({ ...NOWHERE, packages });
  expect(nothing).toMatch(/^not found; @temporalio\/testing could not download it: .*; there is no Go/s);
  fakeGo();
  expect(await provideTemporal({ ...NOWHERE, packages })).toBeUndefined();
});

test("a cache that cannot be written is named", async () => {
  fakeGo();
  writeFileSync(join(root, "cache"), "no folder");
  expect(await provideTemporal(NOWHERE)).toContain(`${join(root, "cache/trackside")} cannot hold it`);
});

test("when the process that builds is killed, so is the build, and the next one who asks builds", async () => {
  fakeGo({ build: `echo $$ > ${join(root, "pid")}; exec /bin/sleep 1000` });
  const code = `
    const { provideTemporal } = await import(${JSON.stringify(join(import.meta.dirname, "temporal-program.ts"))});
    await provideTemporal(${JSON.stringify(NOWHERE)});
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: "ignore",
    env: process.env,
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const pid = await vi.waitFor(
    () => Number(readFileSync(join(root, "pid"), "utf8").trim() || "none"),
    PATIENCE,
  );
  expect(isAlive(pid)).toBe(true);
  child.kill("SIGKILL");
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), PATIENCE);
  await vi.waitFor(() => expect(globSync(join(root, "cache/trackside/*"))).toEqual([]), PATIENCE);

  fakeGo();
  expect(await provideTemporal(NOWHERE)).toBeUndefined();
});

test("work that takes too long is ended with all it started", async () => {
  const said = script(join(root, "slow"), `/bin/sleep 1000 & echo $! > ${join(root, "pid")}; wait`);
  const problem = await inWorkFolder(join(root, "cache"), async (folder) => {
    const running = folder.run(said, [], { cwd: root, env: process.env, timeoutMs: 3000 });
    await vi.waitFor(() => expect(existsSync(join(root, "pid"))).toBe(true), PATIENCE);
    return running;
  });
  expect(problem).toBe("no end within 3 s");
  const pid = Number(readFileSync(join(root, "pid"), "utf8"));
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), PATIENCE);
  expect(readdirSync(join(root, "cache"))).toEqual([]);
});

test("a suite needs Temporal if it or what it imports names the server", () => {
  const services = join(import.meta.dirname, "index.ts");
  const place = fixture({
    "one.test.ts": `import { ${provideServer.name} } from "${services}";`,
    "two.test.ts": `import type { A } from "./a.ts";\nimport { b } from "./support/b.ts";`,
    "a.ts": `export { b } from "./support/b.ts";`,
    "support/b.ts": `import { a } from "../a.ts";\nimport { ${provideServer.name} } from "./missing.ts";`,
    "three.test.ts": `import { redisServer } from "${services}";\nimport { c } from "./c.ts";`,
    "c.ts": `import { c } from "./three.test.ts";`,
  });
  const found = ["one", "two", "three", "no-such"].map((name) =>
    needs(/\btemporalServer\b/, join(place, `${name}.test.ts`)),
  );
  expect(found).toEqual([true, true, false, false]);
  expect(
    needs(/\btemporalServer\b/, join(import.meta.dirname, "../../packages/host/test/bus/redis.test.ts")),
  ).toBe(false);
  expect(needs(/\btemporalServer\b/, join(import.meta.dirname, "temporal.test.ts"))).toBe(true);
});

function script(path: string, body = ""): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

interface FakeGo {
  readonly folder?: string;
  readonly version?: string;
  readonly build?: string;
}

/** Answers `go version`, and builds an empty program in no time. */
function fakeGo({ folder = "path", version = "1.99.0", build = BUILD }: FakeGo = {}) {
  const log = join(root, folder, "calls");
  script(
    join(root, folder, "go"),
    `if [ "$1" = version ]; then echo "go version go${version} linux/amd64"; exit; fi\necho "$@" >> ${log}\n${build}`,
  );
  return { calls: () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []) };
}

const BUILD = `
while [ $# -gt 0 ]; do if [ "$1" = -o ]; then out=$2; fi; shift; done
echo '#!/bin/sh' > "$out"
/bin/chmod 755 "$out"`;

/** A package folder in which Temporal's test library is installed; it downloads as told. */
function fakeLibrary(download: string): string {
  return fixture({
    "node_modules/@temporalio/testing/package.json": JSON.stringify({
      type: "module",
      exports: "./index.js",
    }),
    "node_modules/@temporalio/testing/index.js": `
      import { writeFileSync } from "node:fs";
      import { join } from "node:path";
      export const TestWorkflowEnvironment = {
        async createLocal({ server: { executable: { downloadDir, version } } }) {
          ${download};
          return { teardown: async () => {} };
        },
      };
    `,
  });
}
