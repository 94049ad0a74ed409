import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { bundleWorkflowCode, type WorkflowBundleWithSourceMap } from "@temporalio/worker";

let bundle: Promise<WorkflowBundleWithSourceMap> | undefined;

/** The loop as one file for the workflow sandbox; made once in a process. */
export function workflowBundle(): Promise<WorkflowBundleWithSourceMap> {
  bundle ??= bundleWorkflowCode({
    workflowsPath: workflowsPath(),
    webpackConfigHook: (config) => ({
      ...config,
      resolve: {
        ...config.resolve,
        conditionNames: isSource() ? ["@trackside/source", "import", "default"] : ["import", "default"],
      },
    }),
  });
  return bundle;
}

function workflowsPath(): string {
  const source = new URL("../workflow/index.ts", import.meta.url);
  return fileURLToPath(isSource() ? source : new URL("./workflow.js", import.meta.url));
}

function isSource(): boolean {
  return existsSync(new URL("../workflow/index.ts", import.meta.url));
}
