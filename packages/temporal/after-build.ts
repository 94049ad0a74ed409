import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";

const root = resolve(import.meta.dirname, "../..");
const dist = join(import.meta.dirname, "dist");

// Beside worker.js, which looks for it there: no bundler runs when a user's worker starts.
const { code } = await bundleWorkflowCode({
  workflowsPath: join(dist, "workflow.js"),
  logger: new DefaultLogger("WARN"),
  webpackConfigHook: (config) => ({
    ...config,
    context: root,
    // Stack traces name lines without the sources, and no folder of the machine that built it.
    devtool: "inline-nosources-source-map",
    output: { ...config.output, devtoolModuleFilenameTemplate: "[resource-path]" },
    resolve: { ...config.resolve, conditionNames: ["import", "default"] },
  }),
});
writeFileSync(join(dist, "workflow-bundle.js"), code);
writeFileSync(join(dist, "workflow-bundle.licenses.txt"), licensesOf(code));

/** The terms of the packages in it, each of which wants them to go along with copies. */
function licensesOf(bundle: string): string {
  const modules = bundle.matchAll(/^\/\*{3}\/ "\.\/(.*node_modules\/(?:@[^/"]+\/)?[^/"]+)\//gm);
  const folders = new Set([...modules].map(([, folder = ""]) => folder));
  const texts = [...folders].sort().map((folder) => {
    const [file] = globSync("{LICENSE,LICENCE,license,licence}{,.md,.txt}", { cwd: join(root, folder) });
    if (file === undefined) throw new Error(`${folder} has no license, and would be in the workflow bundle`);
    return `${folder.replace(/^.*node_modules\//, "")}\n\n${readFileSync(join(root, folder, file), "utf8").trim()}\n`;
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}
