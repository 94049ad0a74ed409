import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleOption } from "@temporalio/worker";

const READY = new URL("./workflow-bundle.js", import.meta.url);
const SOURCE = new URL("../workflow/index.ts", import.meta.url);

let bundle: Promise<WorkflowBundleOption> | undefined;

/** The loop as one file for the workflow sandbox: the build's, or, of the source, made once in a process. */
export function workflowBundle(): Promise<WorkflowBundleOption> {
  bundle ??= existsSync(READY) ? Promise.resolve({ codePath: fileURLToPath(READY) }) : bundleSource();
  return bundle;
}

function bundleSource(): Promise<WorkflowBundleOption> {
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(SOURCE),
    logger: new DefaultLogger("WARN"),
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, conditionNames: ["@trackside/source", "import", "default"] },
    }),
  });
}
