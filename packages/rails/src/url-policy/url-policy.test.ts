import { Agent, defineTool, RailAbortError } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { sameHoweverCut, streamed, textsOf } from "../../test/streams.ts";
import { builtInHooks, builtInRails, type UrlPolicyOptions, urlPolicy, urlPolicyStream } from "../index.ts";

const allow = ["ok.com", "*.good.org", "bücher.example"];
const clean = (text: string, options: Partial<UrlPolicyOptions> = {}) =>
  streamed(urlPolicyStream({ allow, replacement: "X", ...options }), [text]);

describe("addresses of other hosts do not pass", () => {
  test.each([
    ["a plain one", "See https://evil.com/a?b=c#d, please.", "See X, please."],
    ["in brackets", "(https://evil.com/x) [https://evil.com]", "(X) [X]"],
    ["at the end of a sentence", "Go to http://evil.com.", "Go to X."],
    ["with www", "www.evil.com and WWW.evil.com/x", "X and X"],
    ["an image in markdown", "![logo](https://evil.com/p.png?q=secret)", "![logo](X)"],
    ["a link in markdown", "[click](https://evil.com 'title')", "[click](X 'title')"],
    ["a definition in markdown", "[a]: https://evil.com/x\n[b]: <//evil.com>", "[a]: X\n[b]: <X>"],
    ["an autolink", "<https://evil.com/x>", "<X>"],
    ["an image in HTML", '<img src="https://evil.com/x.png">', '<img src="X">'],
    [
      "without a scheme in an attribute",
      `<img src="//evil.com/x"><img src=//evil.com/y>`,
      `<img src="X"><img src=X>`,
    ],
    [
      "without a scheme in markdown",
      "![a](//evil.com/x) ![a](/\\evil.com) ![a]( \n//evil.com)",
      "![a](X) ![a](X) ![a]( \nX)",
    ],
    ["with a listed host as a user's name", "https://ok.com@evil.com/ https://ok.com:443@evil.com", "X X"],
    ["with a listed host further down", "https://evil.com/https://ok.com https://ok.com.evil.com", "X X"],
    ["with a host that ends like a listed one", "https://notok.com https://good.org", "X X"],
    ["with backslashes", "https:\\\\evil.com https:/evil.com https:\\/\\/evil.com/x", "X X X"],
    ["with an encoded dot", "https://evil%2ecom/ https://ok.com%2eevil.com/", "X X"],
    ["with letters that look alike", "https://оk.com https://ok.cоm", "X X"],
    ["with a full-width dot", "https://ok.com。evil.com", "X"],
    ["with something invisible in the host", "https://ok.com\u200b.evil.com", "X"],
    [
      "with character references",
      "[a](https&#58;//evil.com) ![a](&#x2f;&sol;evil&period;com)",
      "[a](X) ![a](X)",
    ],
    ["with escapes", "[a](https\\://evil.com) [a](\\//evil.com)", "[a](X) [a](X)"],
    ["of another scheme", "ftp://ok.com file:///etc/passwd [a](mailto:x@ok.com)", "X X [a](X)"],
    ["that run something", "[a](javascript:alert(1)) <a href='javascript:x()'>", "[a](X)) <a href='X)'>"],
    ["with data in them", "![a](data:image/png;base64,AAAA) data:text/html,<b>", "![a](X) X,<b>"],
    [
      "with a line break in an attribute",
      '<img src="https://ok.com\n.evil.com/x">',
      '<img src="X\n.evil.com/x">',
    ],
    ["as an address", "http://127.0.0.1/x http://2130706433/ http://0x7f.1", "X X X"],
    ["next to a listed one", "https://ok.com)https://evil.com", "https://ok.com)X"],
    [
      "in an attribute behind a listed one",
      "<img src='https://ok.com'srcset='https://evil.com/x'>",
      "<img src='https://ok.com'srcset='X'>",
    ],
    ["stuck to a word", "xhttps://evil.com and foo.https://evil.com", "xX and foo.X"],
  ])("%s", (_, text, left) => {
    expect(clean(text)).toBe(left);
  });
});

describe("everything else stays", () => {
  test.each([
    [
      "listed hosts",
      "https://ok.com/a?b=https://evil.com http://ok.com:8080 https://OK.com. (https://a.good.org/x)",
    ],
    ["listed hosts in markdown", "![a](https://ok.com/x.png) [b](<https://ok.com/y>) [c]: https://ok.com"],
    [
      "a host in another spelling",
      "https://bücher.example/ https://xn--bcher-kva.example/ https://B%C3%BCcher.example",
    ],
    ["places on the same site", "[a](/docs/x.md) [b](#top) ![c](./img/a.png) [d](?q=1) [e](page)"],
    [
      "code and prose",
      "std::vector<int> a[0]: 12:30 e.g. x = y // comment; C:\\dir key: value (//) 'a//b' note:/ x",
    ],
    ["an e-mail address", "Write to me@evil.com, or call."],
    ["brackets", "[[x]] [a] (b) ![c] [d][e] f(g)[h](i)"],
    ["numbers", "3.14, 10:20:30, 1:2, a/b/c"],
  ])("%s", (_, text) => {
    expect(clean(text)).toBe(text);
  });
});

test("images may have a shorter list than links", () => {
  const text =
    '[a](https://ok.com) ![b](https://ok.com/x.png) [![c](https://ok.com/y)](https://ok.com) <img src="https://ok.com">';
  expect(clean(text, { images: [] })).toBe(
    '[a](https://ok.com) ![b](X) [![c](X)](https://ok.com) <img src="X">',
  );
});

test("strip leaves nothing behind, schemes can be added, and * lists all hosts", () => {
  expect(clean("a https://evil.com b", { action: "strip" })).toBe("a  b");
  expect(clean("[a](mailto:x@y.z)", { schemes: ["https", "mailto"] })).toBe("[a](mailto:x@y.z)");
  expect(clean("https://evil.com javascript:x()", { allow: ["*"] })).toBe("https://evil.com X)");
});

test("H8 streamed text comes out the same however it is cut", () => {
  const pieces = [
    "https://evil.com/a?b=c",
    "https://ok.com/x",
    "https://ok.com@evil.com",
    "https:",
    "//evil.com",
    "/\\evil.com",
    "](",
    "]: ",
    "![",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    '"',
    "'",
    "src=",
    "<img ",
    "javascript:alert(1)",
    "data:text/html,x",
    "www.evil.com",
    "www.",
    "&#58;",
    "a\\&#58;",
    "&sol;",
    "\\",
    "https\\://evil.com",
    "mailto:a@b.c",
    "...!?",
    "https://ok.com%2e",
    "http",
    "\u200b",
    "оk.com",
    ":",
    "a".repeat(40),
  ];
  sameHoweverCut(urlPolicyStream({ allow, images: ["img.ok.com"] }), textsOf(pieces), 4000);
});

test("answers and results are cleaned, the input is not, and each is on record", async () => {
  const page = defineTool({ name: "page", execute: () => ({ body: "![x](https://evil.com/?d=1)" }) });
  const model = scriptedModel([{ calls: [{ tool: "page" }] }, "See https://evil.com and https://ok.com/"]);
  const agent = new Agent({ name: "a", model, tools: [page], rails: [urlPolicy({ allow })] });
  const { output, messages } = await agent.run("Read https://evil.com/page");
  expect(output).toBe("See [link removed] and https://ok.com/");
  expect(JSON.stringify(messages[0])).toContain("Read https://evil.com/page");
  expect(JSON.stringify(messages)).toContain("![x]([link removed])");
});

test("block ends the run and says how many there were, not which", async () => {
  const model = scriptedModel(["https://evil.com/?d=secret"]);
  const agent = new Agent({ name: "a", model, rails: [urlPolicy({ allow: [], action: "block" })] });
  const failed = await agent.run("hi").catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(RailAbortError);
  expect(failed).toMatchObject({ railName: "url-policy", reason: "found 1 link in the answer" });
});

test("a serialized agent uses it by name, and options that make no sense are refused with their path", () => {
  const json = (options: object) => ({
    name: "a",
    model: "openai:gpt-4o",
    rails: [{ use: "url-policy", options: { ...options } }],
    hooks: { stream: [{ use: "url-policy", options: { ...options } }] },
  });
  const load = (options: object) =>
    Agent.fromJSON(json(options), { rails: builtInRails, hooks: builtInHooks });
  expect(load({ allow: ["*.ok.com"] }).toJSON()).toMatchObject({ rails: [{ use: "url-policy" }] });
  expect(() => load({ allow: ["https://ok.com/"] })).toThrow(/allow\[0\].*a host such as/s);
  expect(() => load({})).toThrow(/allow/);
  expect(() => load({ allow: [], hosts: [] })).toThrow(/hosts.*unknown key/s);
});
