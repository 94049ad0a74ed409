import { Agent, AgentConfigError, defineTool, type JsonObject, RailAbortError } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES } from "../../test/engines.ts";
import { results } from "../../test/outcomes.ts";
import { builtInRails, type PolicyRule, type ToolPolicyOptions, toolPolicy } from "../index.ts";

/** What a policy says of one call: ran, asked, denied with what, or aborted with what. */
async function says(options: ToolPolicyOptions, tool: string, args: JsonObject): Promise<string> {
  const ran: unknown[] = [];
  let asked = "";
  const agent = new Agent({
    name: "a",
    model: scriptedModel([{ calls: [{ tool, args }] }, "done"]),
    tools: [defineTool({ name: tool, input: { type: "object" }, execute: (given) => ran.push(given) })],
    rails: [toolPolicy(options)],
  });
  try {
    const { messages } = await agent.run("go", {
      approve: ({ reasons }) => {
        asked = reasons.join("; ");
        return { choice: "approve" };
      },
    });
    if (asked !== "") return `asked: ${asked}`;
    return ran.length === 1 ? "ran" : `denied: ${String(results(messages)[0])}`;
  } catch (error) {
    if (error instanceof RailAbortError) return `aborted: ${error.reason}`;
    throw error;
  }
}

const allow = (rule: Omit<PolicyRule, "tools" | "verdict">): ToolPolicyOptions => ({
  rules: [{ tools: "act", verdict: "allow", ...rule }],
});
const deny = (rule: Omit<PolicyRule, "tools" | "verdict">): ToolPolicyOptions => ({
  rules: [{ tools: "act", verdict: "deny", ...rule }],
  default: "allow",
});

describe("rules", () => {
  test("the first rule that applies decides, and what none is about is denied", async () => {
    const options: ToolPolicyOptions = {
      rules: [
        { tools: "get_secret", verdict: "deny", reason: "secrets stay where they are" },
        { tools: ["get_*", "list"], verdict: "allow" },
        { tools: "pay", verdict: "ask" },
        { tools: "format_disk", verdict: "abort" },
      ],
    };
    expect(await says(options, "get_user", {})).toBe("ran");
    expect(await says(options, "list", {})).toBe("ran");
    expect(await says(options, "get_secret", {})).toContain("secrets stay where they are");
    expect(await says(options, "pay", {})).toMatch(/^asked: .*pay: a human has to agree/);
    expect(await says(options, "format_disk", {})).toBe("aborted: format_disk: the policy forbids it");
    expect(await says(options, "getter", {})).toMatch(/^denied: rejected: .*no rule is about such a call/);
    expect(await says({}, "anything", {})).toMatch(/^denied/);
    expect(await says({ default: "allow" }, "anything", {})).toBe("ran");
  });

  test("arguments decide by JSON Schema, and the model reads what would have been allowed", async () => {
    const options: ToolPolicyOptions = {
      rules: [
        {
          tools: "refund",
          verdict: "allow",
          arguments: { properties: { amount: { type: "number", maximum: 100 } }, required: ["amount"] },
        },
        { tools: "refund", verdict: "ask" },
      ],
    };
    expect(await says(options, "refund", { amount: 100 })).toBe("ran");
    expect(await says(options, "refund", { amount: 101 })).toMatch(
      /^asked: .*amount: 101 is greater than 100/,
    );
    expect(await says(options, "refund", { amount: "1" })).toMatch(/^asked/);
    expect(await says(options, "refund", {})).toMatch(/^asked/);
  });

  test("a rule that only denies applies when its arguments fit, and in code also by a function", async () => {
    const forced = { properties: { force: { const: true } }, required: ["force"] };
    expect(await says(deny({ arguments: forced }), "act", { force: true })).toMatch(/^denied/);
    expect(await says(deny({ arguments: forced }), "act", { force: false })).toBe("ran");
    const friday = allow({ when: (args) => args.day !== "friday" });
    expect(await says(friday, "act", { day: "monday" })).toBe("ran");
    expect(await says(friday, "act", { day: "friday" })).toMatch(/^denied/);
  });

  test("a condition that fails or does not answer with a boolean ends the run", async () => {
    const throws = allow({
      when: () => {
        throw new Error("no calendar");
      },
    });
    expect(await says(throws, "act", {})).toContain("no calendar");
    expect(await says(allow({ when: (() => "yes") as never }), "act", {})).toContain("true or false");
  });
});

describe("paths", () => {
  const inside = [
    "/srv/data",
    "/srv/data/",
    "/srv/data/a.txt",
    "/srv/data/./a",
    "/srv//data/a",
    "/srv/data/a/../b",
    "/srv/data/ä%20b",
    "/srv/data/Áé/%C3%81.txt",
    "/srv/data/100%",
    "/srv/data/a\\b",
  ];
  const outside = [
    "/srv/database",
    "/etc/passwd",
    "/srv/data/../../etc/passwd",
    "/srv/data/..",
    "/srv/data/%2e%2e/x",
    "/srv/data/%252e%252e/x",
    "/srv/data/%25252525252e/x",
    "/srv/data/..%2fx",
    "/srv/data/..%5cx",
    "/srv/data/%c0%ae%c0%ae/x",
    "/srv/data\\..\\..\\etc",
    "/srv/data\\/a",
    "/srv/data/．．/x",
    "/srv/data/.. /x",
    "/srv/data/.../x",
    "/srv/data/a\u0000.txt",
    "/srv/data/a\n",
    "srv/data/a",
    "../srv/data",
    "~/data",
    "~root/.ssh",
    "file:///srv/data/a",
    "//srv/data/a",
    "\\\\host\\share",
    "C:\\srv\\data",
    "C:srv",
    "/SRV/DATA/a",
    "",
    " ",
  ];

  test.each(inside)("%j is inside /srv/data", async (path) => {
    expect(await says(allow({ paths: { path: ["/srv/data"] } }), "act", { path })).toBe("ran");
  });

  test.each(outside)("%j does not count as inside /srv/data", async (path) => {
    expect(await says(allow({ paths: { path: ["/srv/data"] } }), "act", { path })).toMatch(/^denied/);
  });

  test("relative paths are read from the base, when there is one", async () => {
    const options = allow({ paths: { path: { roots: ["work", "/tmp"], base: "/home/agent" } } });
    expect(await says(options, "act", { path: "work/a" })).toBe("ran");
    expect(await says(options, "act", { path: "../agent/work/a" })).toBe("ran");
    expect(await says(options, "act", { path: "/tmp/a" })).toBe("ran");
    expect(await says(options, "act", { path: "work/../.ssh/id" })).toMatch(/^denied/);
    expect(await says(options, "act", { path: "../../etc" })).toMatch(/^denied/);
  });

  test("paths on a drive are read as Windows reads them", async () => {
    const options = allow({ paths: { path: ["C:\\data"] } });
    for (const path of ["C:\\data\\a.txt", "c:/data/a", "C:\\data\\b\\..\\a"])
      expect(await says(options, "act", { path })).toBe("ran");
    for (const path of [
      "D:\\data\\a",
      "C:data\\a",
      "C:\\data\\..\\a",
      "C:\\database",
      "\\data\\a",
      "/data/a",
    ])
      expect(await says(options, "act", { path })).toMatch(/^denied/);
  });

  test("every path has to be inside, wherever it stands in the arguments, and none may be missing", async () => {
    const options = allow({ paths: { "files.*.path": ["/srv"], to: { roots: ["/tmp"], optional: true } } });
    expect(await says(options, "act", { files: [{ path: "/srv/a" }, { path: "/srv/b" }] })).toBe("ran");
    expect(await says(options, "act", { files: [] })).toBe("ran");
    expect(await says(options, "act", { files: [{ path: "/srv/a" }, { path: "/etc/b" }] })).toContain(
      'files.1.path "/etc/b"',
    );
    expect(await says(options, "act", { files: [{ path: "/srv/a" }, {}] })).toContain(
      "files.1.path is missing",
    );
    expect(await says(options, "act", { files: [], to: "/etc" })).toMatch(/^denied/);
    expect(await says(options, "act", {})).toMatch(/^denied/);
    expect(await says(options, "act", { files: [{ path: ["/srv/a"] }] })).toContain("not a path");
  });

  test("a rule that denies applies as soon as one path may be meant", async () => {
    const options = deny({ paths: { "files.*": ["/etc"] } });
    expect(await says(options, "act", { files: ["/tmp/a"] })).toBe("ran");
    expect(await says(options, "act", {})).toBe("ran");
    expect(await says(options, "act", { files: ["/tmp/a", "/tmp/../etc/passwd"] })).toMatch(/^denied/);
    expect(await says(options, "act", { files: ["/ETC/passwd"] })).toMatch(/^denied/);
    expect(await says(options, "act", { files: ["~/x"] })).toMatch(/^denied/);
    expect(await says(options, "act", { files: [7] })).toMatch(/^denied/);
  });
});

describe("hosts", () => {
  const listed = allow({
    hosts: { url: ["api.example.com", "*.example.org", "localhost:8080", "münchen.de"] },
  });
  const anywhere = allow({ hosts: { url: {} } });

  test.each([
    "https://api.example.com/v1?q=1",
    "https://API.example.com./",
    "http://api.example.com:8443",
    "https://a.b.example.org",
    "http://localhost:8080/x",
    "https://xn--mnchen-3ya.de/",
    "api.example.com",
    "api.example.com:443",
  ])("%j leads to a host of the list", async (url) => {
    expect(await says(listed, "act", { url })).toBe("ran");
  });

  test.each([
    "https://example.org",
    "https://evilexample.org",
    "https://api.example.com.evil.com",
    "https://api.example.com@evil.com/",
    "https://evil.com#@api.example.com",
    "https://evil.com\\@api.example.com",
    "https://api.example.com\t.evil.com",
    "http://localhost:8081",
    "http://localhost",
    "ftp://api.example.com",
    "javascript:alert(1)//api.example.com",
    "//api.example.com",
    "/v1",
    "api.example.com/../x",
    "https://",
    "",
  ])("%j does not", async (url) => {
    expect(await says(listed, "act", { url })).toMatch(/^denied/);
  });

  test.each([
    "https://example.com",
    "http://8.8.8.8",
    "https://[2606:4700::1111]/",
    "http://[::ffff:8.8.8.8]",
  ])("%j is public", async (url) => {
    expect(await says(anywhere, "act", { url })).toBe("ran");
  });

  test.each([
    "http://127.0.0.1",
    "http://127.1",
    "http://2130706433",
    "http://0x7f000001",
    "http://0177.0.0.1",
    "http://0x7f.1",
    "http://%31%32%37.0.0.1",
    "http://①②⑦.0.0.1",
    "http://0",
    "http://10.1.2.3",
    "http://172.31.0.1",
    "http://192.168.1.1",
    "http://169.254.169.254/latest/meta-data",
    "http://100.64.0.1",
    "http://224.0.0.1",
    "http://255.255.255.255",
    "http://[::1]",
    "http://[::]",
    "http://[::ffff:127.0.0.1]",
    "http://[::ffff:7f00:1]",
    "http://[::127.0.0.1]",
    "http://[64:ff9b::10.0.0.1]",
    "http://[2002:7f00:1::]",
    "http://[fe80::1]",
    "http://[fd00::1]",
    "http://localhost",
    "http://LOCALHOST.",
    "http://a.localhost",
    "http://printer.local",
    "http://metadata.google.internal",
    "http://intranet",
    "127.0.0.1:22",
    "2130706433",
    "[::1]:80",
  ])("%j is not a public host", async (url) => {
    expect(await says(anywhere, "act", { url })).toMatch(/^denied: .*not a public host/);
    expect(await says(deny({ hosts: { url: ["evil.com"] } }), "act", { url })).toMatch(/^denied/);
  });

  test("private addresses are allowed by name or by saying so", async () => {
    expect(await says(allow({ hosts: { url: ["10.0.0.5"] } }), "act", { url: "http://10.0.0.5/x" })).toBe(
      "ran",
    );
    expect(await says(allow({ hosts: { url: ["10.0.0.5"] } }), "act", { url: "http://0x0a000005/x" })).toBe(
      "ran",
    );
    const any = allow({ hosts: { url: { private: true } } });
    expect(await says(any, "act", { url: "http://127.0.0.1" })).toBe("ran");
    const schemes = allow({ hosts: { url: { allow: ["db.example.com"], schemes: ["postgres"] } } });
    expect(await says(schemes, "act", { url: "postgres://db.example.com:5432/x" })).toBe("ran");
  });
});

describe("options", () => {
  const problems = (options: unknown): readonly string[] => {
    try {
      toolPolicy(options as ToolPolicyOptions);
    } catch (error) {
      if (error instanceof AgentConfigError) return error.issues.map(({ message }) => message);
    }
    return [];
  };

  test("every problem is reported at once, with its place", () => {
    const found = problems({
      rules: [
        { tools: "a b", verdict: "allow" },
        { tools: [], verdict: "maybe" },
        { tools: "x", verdict: "allow", arguments: { propertes: {} } },
        { tools: "x", verdict: "allow", arguments: { properties: { a: { type: "numbr" } } } },
        { tools: "x", verdict: "allow", paths: { path: ["data"] } },
        { tools: "x", verdict: "allow", hosts: { url: ["https://example.com/"] } },
        { tools: "x", verdict: "allow", path: {} },
      ],
      defualt: "allow",
    }).join("\n");
    for (const text of [
      "rules[0].tools",
      "rules[1].verdict",
      "which propertes is not",
      "at properties.a.type",
      '"data" is relative',
      "rules[5].hosts.url",
      "rules[6].path: unknown key",
      "defualt: unknown key",
    ])
      expect(found).toContain(text);
  });

  test("it can only be put where tools are called", () => {
    expect(() => toolPolicy({}, { on: ["START"] })).toThrow(/points of PRE_TOOL_CALL expected/);
    expect(toolPolicy({}, { name: "files", priority: 12, on: ["PRE_TOOL_CALL"] })).toMatchObject({
      name: "files",
      priority: 12,
      asks: false,
    });
    expect(toolPolicy({ rules: [{ tools: "*", verdict: "ask" }] }).asks).toBe(true);
  });
});

describe.each(ENGINES)("a serialized agent on $name", ({ make }) => {
  test("takes the policy by its name, and a batch is judged call by call", async () => {
    const json = {
      name: "clerk",
      model: "openai:scripted",
      rails: [
        {
          use: "tool-policy",
          options: { rules: [{ tools: "read", verdict: "allow", paths: { path: ["/srv"] } }] },
        },
      ],
    };
    const read = defineTool({ name: "read", input: { type: "object" }, execute: (args) => args });
    const agent = Agent.fromJSON(json, { tools: [read], rails: builtInRails });
    expect(agent.toJSON()).toMatchObject({ rails: json.rails });
    const calls = ["/srv/a", "/etc/passwd", "/srv/b"].map((path) => ({ tool: "read", args: { path } }));
    const engine = make({ models: { "openai:scripted": scriptedModel([{ calls }, "done"]) } });
    const { messages } = await agent.run("read", { engine });
    expect(results(messages)).toEqual([
      { path: "/srv/a" },
      expect.stringMatching(/^rejected: .*"\/etc\/passwd" is not inside \/srv/),
      { path: "/srv/b" },
    ]);
  });

  test("what a human writes instead is judged again", async () => {
    const ran: unknown[] = [];
    const send = defineTool({ name: "send", input: { type: "object" }, execute: (args) => ran.push(args) });
    const rail = toolPolicy({
      rules: [
        { tools: "send", verdict: "deny", hosts: { url: ["evil.com"] } },
        { tools: "send", verdict: "ask" },
      ],
    });
    const edited = async (url: string) => {
      const model = scriptedModel([{ calls: [{ tool: "send", args: { url: "https://a.com" } }] }, "done"]);
      const agent = new Agent({ name: "a", model, tools: [send], rails: [rail] });
      const approve = () => ({ choice: "approve", editedArguments: { url } });
      return results((await agent.run("send", { engine: make(), approve })).messages);
    };
    expect(await edited("https://evil.com")).toEqual([expect.stringMatching(/^rejected/)]);
    expect(ran).toEqual([]);
    await edited("https://b.com");
    expect(ran).toEqual([{ url: "https://b.com" }]);
  });

  test("wrong options are problems of the agent", () => {
    const json = { name: "a", model: "openai:x", rails: [{ use: "tool-policy", options: { rule: [] } }] };
    expect(() => Agent.fromJSON(json, { rails: builtInRails })).toThrow(/rule: unknown key/);
  });
});
