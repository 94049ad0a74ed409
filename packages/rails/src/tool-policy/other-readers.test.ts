import { posix, win32 } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { leadsTo } from "./hosts.ts";
import { insideRoots } from "./paths.ts";

// What the policy allows has to be allowed however another program reads it.

const pieces = (...all: string[]) =>
  fc.array(fc.constantFrom(...all), { minLength: 1, maxLength: 9 }).map((list) => list.join(""));

const paths = pieces(
  "/srv/data",
  "/srv",
  "/",
  "\\",
  "..",
  ".",
  "a",
  "b.txt",
  "%2e",
  "%2E%2e",
  "%2f",
  "%5c",
  "%25",
  "．",
  "／",
  " ",
  "~",
  "C:",
  "data",
  "../",
  "/..",
);

test("a path that counts as inside is inside for POSIX and Windows, decoded or not", () => {
  const check = insideRoots(["/srv/data"], undefined);
  let inside = 0;
  fc.assert(
    fc.property(paths, (path) => {
      if (check(path).holds !== "yes") return;
      inside += 1;
      for (const text of [path, decoded(path), decoded(decoded(path)), path.normalize("NFKC")]) {
        expect(`${posix.resolve("/elsewhere", text)}/`).toMatch(/^\/srv\/data\//);
        expect(`${win32.resolve("C:\\elsewhere", text)}\\`).toMatch(/^C:\\srv\\data\\/);
      }
    }),
    { numRuns: 20_000 },
  );
  expect(inside).toBeGreaterThan(100);
});

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const urls = fc
  .tuple(
    fc.constantFrom("https://", "http://", "HTTPS://", "https:", "https:/", "https:///", "//", "", "ftp://"),
    pieces(
      "api.example.com",
      "evil.com",
      "@",
      ":",
      "/",
      "\\",
      "#",
      "?",
      ".",
      "%40",
      "%2f",
      "\t",
      " ",
      "[",
      "]",
      "：",
      "。",
      "80",
      "a",
      "api",
      "example.com",
    ),
  )
  .map(([scheme, rest]) => scheme + rest);

test("a URL that counts as leading to a host leads there for every parser", () => {
  const check = leadsTo({ allow: ["api.example.com"], private: false, schemes: ["http", "https"] });
  let allowed = 0;
  fc.assert(
    fc.property(urls, (url) => {
      if (check(url).holds !== "yes") return;
      allowed += 1;
      const whole = url.includes("://") ? url : `http://${url}`;
      expect(new URL(whole).hostname.replace(/\.$/, "")).toBe("api.example.com");
      // What comes between the slashes and the next one is all that RFC 3986 and simple readers look at.
      const [, authority = ""] = /^[a-z]+:\/\/([^/?#]*)/i.exec(whole) ?? [];
      expect(authority.normalize("NFKC").replaceAll("。", ".")).toMatch(/^api\.example\.com\.?(:\d*)?$/i);
    }),
    { numRuns: 20_000 },
  );
  expect(allowed).toBeGreaterThan(50);
});
