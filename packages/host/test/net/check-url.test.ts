import { describe, expect, test } from "vitest";
import { checkUrl } from "../../src/index.ts";
import { isPublicAddress } from "../../src/net/public-address.ts";
import { REFUSED, TAKEN } from "./payloads.ts";
import { fakeDns } from "./support.ts";

const lookup = fakeDns;

describe("a URL that somebody enters", () => {
  test.each(REFUSED)("%j is refused", async (url) => {
    await expect(checkUrl(url, { lookup })).rejects.toMatchObject({ code: "url_refused" });
  });

  test.each(TAKEN)("%j is taken", async (url) => {
    const checked = await checkUrl(url, { lookup });
    expect(checked.url.href).toBe(new URL(url).href);
    expect(checked.addresses.length).toBeGreaterThan(0);
  });

  test("is refused as an object too, where a parser has tidied it up already", async () => {
    for (const url of [
      "http://2130706433/",
      "http://0x7f.1/",
      "http://[::ffff:127.0.0.1]/",
      "http://user:pw@api.example.com/",
    ])
      await expect(checkUrl(new URL(url), { lookup })).rejects.toMatchObject({ code: "url_refused" });
  });

  test("is told apart from one that nobody knows, unless it is a name of the inside", async () => {
    const unknown = checkUrl("http://nobody.example.com/", { lookup });
    await expect(unknown).rejects.toMatchObject({ code: "url_unresolved" });
    const empty = checkUrl("http://nobody.example.com/", { lookup: async () => [] });
    await expect(empty).rejects.toMatchObject({ code: "url_unresolved" });
    await expect(checkUrl("http://no-such.internal/", { lookup })).rejects.toMatchObject({
      code: "url_refused",
    });
  });

  test("is not repeated in the error: there may be a key in it", async () => {
    for (const url of [
      "http://user:canary@api.example.com/",
      "ftp://x/?key=canary",
      "http://10.0.0.1/canary?k=canary",
    ])
      await checkUrl(url, { lookup }).then(
        () => expect.unreachable(),
        (error: unknown) => expect(String(error)).not.toContain("canary"),
      );
  });
});

describe("what a policy allows", () => {
  const allow = ["127.0.0.1:11434", "[::1]:*", "models.internal:*", "Ollama:80", "10.0.0.7:22"];
  const inside = async (name: string) =>
    name === "models.internal" || name === "ollama"
      ? [{ address: "10.9.8.7", family: 4 as const }]
      : fakeDns(name);

  test.each([
    "http://127.0.0.1:11434/v1",
    "http://localhost:11434/v1",
    "http://loop.example.com:11434/",
    "http://[::1]/",
    "http://[0:0::1]:9999/",
    "https://models.internal/",
    "http://models.internal:8080/",
    "http://OLLAMA/",
    "http://10.0.0.7:22/",
  ])("%j is taken", async (url) => {
    await checkUrl(url, { allow, lookup: inside });
  });

  test.each([
    "http://127.0.0.1:11435/",
    "http://127.0.0.2:11434/",
    "http://localhost/",
    "http://ollama:8080/",
    "http://other.models.internal/",
    "http://10.9.8.7/",
    "http://2130706433:11434/",
    "http://mixed.example.com:11434/",
  ])("%j is still refused", async (url) => {
    await expect(checkUrl(url, { allow, lookup: inside })).rejects.toMatchObject({ code: "url_refused" });
  });

  test.each([
    "",
    "127.0.0.1",
    "localhost",
    "http://localhost:80",
    ":80",
    "a:b",
    "a:70000",
    "::1:80",
    "a b:80",
  ])("%j in the list is a mistake that is told", async (entry) => {
    const mistake = checkUrl("https://api.example.com/", { allow: [entry], lookup });
    await expect(mistake).rejects.toThrow(/allow: a host and a port, such as "127.0.0.1:11434"/);
  });
});

test("every other address of IPv4's special networks is not public, their neighbours are", () => {
  const edges = ["10.0.0.0/10.255.255.255", "100.64.0.0/100.127.255.255", "172.16.0.0/172.31.255.255"];
  for (const edge of edges) {
    const [first = "", last = ""] = edge.split("/");
    expect([isPublicAddress(first), isPublicAddress(last)]).toEqual([false, false]);
  }
  for (const outside of [
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
  ])
    expect(isPublicAddress(outside)).toBe(true);
  for (const nothing of ["", "example.com", "1.2.3", "1.2.3.4.5", "2606:4700", "[2606:4700::1]"])
    expect(isPublicAddress(nothing)).toBe(false);
});
