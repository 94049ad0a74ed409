import { mkdir, symlink, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { openRoom, type Room, until } from "./support/room.ts";

let room: Room;
const SCRIPT = `console.log(${JSON.stringify("control room ".repeat(500))});`;

beforeAll(async () => {
  const dir = temporaryFolder("web");
  const web = join(dir, "web");
  await mkdir(join(web, "assets"), { recursive: true });
  await writeFile(join(dir, "secret.txt"), "the secret");
  await writeFile(join(web, "index.html"), "<!doctype html><title>Control room</title>");
  await writeFile(join(web, "assets", "app-a1b2c3d4.js"), SCRIPT);
  await writeFile(join(web, "icon.svg"), "<svg xmlns='http://www.w3.org/2000/svg'/>");
  await symlink(join(dir, "secret.txt"), join(web, "assets", "link.txt"));
  await symlink(dir, join(web, "up"));
  room = await openRoom({ server: { web } });
});

/** The path as it is: `fetch` and URL would tidy it up first. */
function raw(
  path: string,
  headers: Record<string, string> = { accept: "text/html" },
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer }> {
  const { port } = new URL(room.url);
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, path, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
      );
    });
    asked.on("error", reject);
    asked.end();
  });
}

test("pages of the app are the app, and are asked for again each time", async () => {
  for (const path of ["/", "/runs", "/runs/run_123", "/agents/my.agent", "/approvals?x=1", "/index.html"]) {
    const answer = await raw(path);
    expect([answer.status, answer.headers["content-type"], answer.headers["cache-control"]], path).toEqual([
      200,
      "text/html; charset=utf-8",
      "no-cache",
    ]);
    expect(answer.body.toString()).toContain("Control room");
  }
});

test("what has its content in its name is kept for ever; a script that is gone is no page", async () => {
  const answer = await raw("/assets/app-a1b2c3d4.js", { accept: "*/*" });
  expect(answer.headers).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=31536000, immutable",
  });
  expect(answer.body.toString()).toBe(SCRIPT);
  for (const headers of [{ accept: "*/*" }, { accept: "text/html" }])
    expect((await raw("/assets/app-0ld.js", headers)).status).toBe(404);
  expect((await raw("/icon.svg", {})).headers["content-type"]).toBe("image/svg+xml");
});

test("who has a file already is told so", async () => {
  const { headers } = await raw("/index.html");
  const again = await raw("/index.html", { "if-none-match": String(headers["etag"]), accept: "text/html" });
  expect([again.status, again.body.length]).toEqual([304, 0]);
});

test.each([
  ["br", brotliDecompressSync],
  ["gzip", gunzipSync],
] as const)("it is sent smaller to who takes %s", async (encoding, unpack) => {
  const answer = await until(async () => {
    const found = await raw("/assets/app-a1b2c3d4.js", { "accept-encoding": encoding });
    return found.headers["content-encoding"] === encoding ? found : undefined;
  });
  expect(answer.headers["vary"]).toBe("accept-encoding");
  expect(answer.body.length).toBeLessThan(SCRIPT.length / 10);
  expect(unpack(answer.body).toString()).toBe(SCRIPT);
  const plain = await raw("/assets/app-a1b2c3d4.js", { "accept-encoding": `${encoding};q=0` });
  expect(plain.headers["content-encoding"]).toBeUndefined();
});

describe("nothing outside the folder is reached", () => {
  const up = ["..", "%2e%2e", "%2E.", "..%00", ".%2e", "%252e%252e", "..%c0%af", "%c0%ae%c0%ae", "..;"];
  const separators = ["/", "%2f", "%5c", "\\", "%252f", "%255c", "//", "%c0%af"];
  const paths = [
    ...up.flatMap((dots) =>
      separators.map((separator) => `/assets/${dots}${separator}${dots}${separator}secret.txt`),
    ),
    ...up.flatMap((dots) => separators.map((separator) => `/${dots}${separator}secret.txt`)),
    "/assets/link.txt",
    "/up/secret.txt",
    "/assets/../../secret.txt",
    "//etc/passwd",
    "/%00/secret.txt",
    "/secret.txt%00.js",
    "/C:/secret.txt",
    "/assets/app-a1b2c3d4.js/../../../secret.txt",
    "/.git/config",
    "/..",
    "/%2e%2e",
    "/assets/",
    "/assets",
  ];
  test.each(paths)("by %s", async (path) => {
    for (const headers of [{ accept: "text/html" }, { accept: "*/*" }]) {
      const { status, body } = await raw(path, headers);
      expect(body.toString()).not.toContain("the secret");
      expect(body.toString()).not.toContain("root:");
      expect([200, 400, 404]).toContain(status);
      if (status === 200) expect(body.toString()).toContain("Control room");
    }
  });
});

test("files are read, not written", async () => {
  const answer = await fetch(`${room.url}/index.html`, { method: "POST", body: "x" });
  expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});

test("without a build it says how to make one", async () => {
  const bare = await openRoom();
  const answer = await fetch(`${bare.url}/`, { headers: { accept: "text/html" } });
  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain("npm run web");
});
