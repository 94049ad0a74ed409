import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import packageJson from "../../package.json" with { type: "json" };
import { loadModel, type ProviderSettings } from "../../src/local/providers/registry.ts";
import { PROVIDERS } from "../../src/local/providers/table.ts";
import { KNOWN_PROVIDERS } from "../../src/schema/model-string.ts";

async function failureOf(ref: string, settings?: Record<string, ProviderSettings>, env = {}) {
  const loaded = await loadModel(ref, settings, { env });
  if (loaded.ok) throw new Error(`expected ${ref} to fail`);
  return loaded.failure;
}

const CONFIGURED: Record<string, string> = {
  AWS_BEARER_TOKEN_BEDROCK: "key",
  AWS_REGION: "eu-north-1",
  AZURE_RESOURCE_NAME: "resource",
  OPENAI_COMPATIBLE_BASE_URL: "http://127.0.0.1:9/v1",
  GOOGLE_GENERATIVE_AI_API_KEY: "key",
  ...Object.fromEntries(
    ["OPENAI", "ANTHROPIC", "MISTRAL", "AZURE", "GROQ", "DEEPSEEK", "XAI"].map((name) => [
      `${name}_API_KEY`,
      "key",
    ]),
  ),
};

describe("A6 loading a model by its string", () => {
  it("A6 every known provider makes a model of specification 4 from the environment alone", async () => {
    // In plain Node: the test runner resolves packages by conditions of its own.
    const script = `
      import { loadModel } from ${JSON.stringify(import.meta.resolve("../../src/local/providers/registry.ts"))};
      const made = {};
      for (const provider of ${JSON.stringify(KNOWN_PROVIDERS)}) {
        const loaded = await loadModel(provider + ":some/model:1");
        made[provider] = loaded.ok ? [loaded.model.specificationVersion, loaded.model.modelId] : loaded.failure;
      }
      console.log(JSON.stringify(made));`;
    const args = ["--input-type=module", "--no-warnings", "-e", script];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: CONFIGURED });
    const expected = KNOWN_PROVIDERS.map((provider) => [provider, ["v4", "some/model:1"]]);
    expect(JSON.parse(stdout)).toEqual(Object.fromEntries(expected));
  });

  it("A6 an unknown provider names the known ones", async () => {
    const failure = await failureOf("opnai:gpt-5");
    expect(failure.code).toBe("model_invalid");
    for (const provider of KNOWN_PROVIDERS) expect(failure.message).toContain(provider);
  });

  it.each(["", "gpt-5", "openai:", "openai: gpt", "__proto__:x", "constructor:x"])(
    "A6 %j is no model string",
    async (ref) => {
      expect((await failureOf(ref)).code).toBe("model_invalid");
    },
  );

  it.each([
    ["openai", ["OPENAI_API_KEY", '"apiKey"']],
    ["google", ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"]],
    ["azure", ["AZURE_API_KEY", "AZURE_RESOURCE_NAME, or AZURE_BASE_URL"]],
    ["bedrock", ["AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", "AWS_REGION"]],
    ["openai-compatible", ["OPENAI_COMPATIBLE_BASE_URL", '"baseUrl"']],
  ])("A6 %s without its settings says what is missing and where to set it", async (provider, words) => {
    const failure = await failureOf(`${provider}:m`);
    expect(failure.code).toBe("provider_unconfigured");
    for (const word of words) expect(failure.message).toContain(word);
  });

  it("A6 a variable set to nothing counts as missing", async () => {
    expect((await failureOf("openai:m", {}, { OPENAI_API_KEY: "  " })).code).toBe("provider_unconfigured");
    const given = await loadModel("openai:m", { openai: { apiKey: "k" } }, { env: { OPENAI_API_KEY: "" } });
    expect(given.ok).toBe(true);
  });

  it("A6 settings of another provider are not used", async () => {
    const other = { anthropic: { apiKey: "k" }, ollama: { baseUrl: "http://127.0.0.1:9" } };
    expect((await failureOf("openai:m", other)).code).toBe("provider_unconfigured");
  });

  it.each(["localhost:11434", "ftp://host/v1", "not a url"])("A6 %j is no base URL", async (baseUrl) => {
    const failure = await failureOf("ollama:m", { ollama: { baseUrl } });
    expect(failure.code).toBe("provider_unconfigured");
    expect(failure.message).toContain("OLLAMA_BASE_URL");
  });

  it("A6 a password in a base URL is refused and not repeated", async () => {
    const failure = await failureOf("ollama:m", { ollama: { baseUrl: "http://user:hunter2@host/v1" } });
    expect(failure.code).toBe("provider_unconfigured");
    expect(failure.message).not.toContain("hunter2");
  });

  it("every provider's package is an optional peer with a range", () => {
    const tokenizers = ["gpt-tokenizer"];
    const packages = [...new Set(Object.values(PROVIDERS).map((row) => row.package)), ...tokenizers].sort();
    expect(Object.keys(packageJson.peerDependencies).sort()).toEqual(packages);
    expect(Object.keys(packageJson.peerDependenciesMeta).sort()).toEqual(packages);
  });
});

describe("provider packages that are not installed beside this one", () => {
  // A row that no real package answers to, so that only the project's folder can.
  const row = PROVIDERS.mistral;
  const name = row.package;
  let project: string;

  beforeAll(async () => {
    project = temporaryFolder("project");
    await writeFile(join(project, "package.json"), "{}");
    Object.assign(row, { package: "@trackside-test/provider" });
  });

  afterAll(() => {
    Object.assign(row, { package: name });
  });

  async function install(source: string, folder = "@trackside-test/provider") {
    const target = join(project, "node_modules", folder);
    await mkdir(target, { recursive: true });
    await writeFile(join(target, "package.json"), JSON.stringify({ type: "module", exports: "./index.js" }));
    await writeFile(join(target, "index.js"), source);
  }

  const load = () => loadModel("mistral:m", { mistral: { apiKey: "k" } }, { env: {}, project });

  it("A6 a missing package is named with the command that installs it", async () => {
    const bare = await loadModel("mistral:m", {}, { env: {}, project });
    expect(bare).toMatchObject({ ok: false, failure: { code: "provider_missing" } });
    if (bare.ok) return;
    expect(bare.failure.message).toContain("npm install @trackside-test/provider");
    expect(bare.failure.message).toContain("MISTRAL_API_KEY");
  });

  it("A6 a package in the user's project is found, and an old specification is translated", async () => {
    await install(`export const createMistral = ({ apiKey }) => (id) => ({
      specificationVersion: "v2", provider: apiKey, modelId: id, doStream() {}, doGenerate() {} });`);
    const loaded = await load();
    expect(loaded).toMatchObject({
      ok: true,
      model: { specificationVersion: "v4", provider: "k", modelId: "m" },
    });
  });

  it("A6 a package that is there but broken is thrown, not called missing", async () => {
    const broken = temporaryFolder("broken");
    const target = join(broken, "node_modules", "@trackside-test", "provider");
    await mkdir(target, { recursive: true });
    await writeFile(join(target, "package.json"), JSON.stringify({ type: "module", exports: "./index.js" }));
    await writeFile(join(target, "index.js"), `import "a-dependency-that-is-not-there";`);
    const loading = loadModel("mistral:m", { mistral: { apiKey: "k" } }, { env: {}, project: broken });
    await expect(loading).rejects.toThrow("a-dependency-that-is-not-there");
  });
});
