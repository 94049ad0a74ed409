import { createConnection } from "node:net";
import type { Connection } from "@temporalio/client";
import { messageOf } from "../approvals/approver.ts";
import { Complaint } from "../complaint.ts";
import { cleanLine } from "../screen/clean.ts";
import { isLoopback, type Target } from "./options.ts";
import type { Toolkit } from "./toolkit.ts";

const CONNECT_MS = 10_000;
/** Codes of gRPC. */
const NOT_FOUND = 5;
const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;
const WORKFLOW_QUEUE = 1;
/** Where Temporal listens, unless told otherwise. */
const PORT = 7233;

/** Connects, and sees to it that the server would take runs: whoever goes on from here does not wait in vain. */
export async function connect(toolkit: Toolkit, target: Target): Promise<Connection> {
  const { Connection } = await toolkit.theirs();
  let connection: Connection;
  try {
    if (isLoopback(target)) await knock(target.address);
    connection = await Connection.connect({ ...serverOf(target), connectTimeout: CONNECT_MS });
  } catch (error) {
    throw new Complaint(unreachable(target, error), { cause: error });
  }
  try {
    const { namespace } = target;
    await connection.withDeadline(Date.now() + CONNECT_MS, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
  } catch (error) {
    const problem = refusedBy(target, error);
    if (problem === undefined) return connection; // it may not be ours to look at
    await connection.close();
    throw new Complaint(problem, { cause: error });
  }
  return connection;
}

/** Rejects at once when nobody listens on this machine: gRPC would go on trying. */
function knock(address: string): Promise<void> {
  const { hostname, port } = new URL(`tcp://${address}`);
  const host = hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host, port: Number(port || PORT), timeout: CONNECT_MS });
    const open = () => {
      socket.destroy();
      resolve();
    };
    socket.once("connect", open).once("timeout", open).once("error", reject);
  });
}

/** How both kinds of connections are told where to go. */
export function serverOf({ address, tls, apiKey }: Target) {
  return { address, tls, ...(apiKey === undefined ? {} : { apiKey: apiKey.value }) };
}

/** Whether a worker has asked for work lately. True when the server does not say. */
export async function hasWorkers(connection: Connection, { namespace, taskQueue }: Target): Promise<boolean> {
  try {
    const { pollers } = await connection.withDeadline(Date.now() + CONNECT_MS, () =>
      connection.workflowService.describeTaskQueue({
        namespace,
        taskQueue: { name: taskQueue },
        taskQueueType: WORKFLOW_QUEUE,
      }),
    );
    return (pollers ?? []).length > 0;
  } catch {
    return true;
  }
}

function unreachable(target: Target, error: unknown): string {
  const { address } = target;
  if ([PERMISSION_DENIED, UNAUTHENTICATED].includes(codeIn(error))) return refusal(target);
  const said = cleanLine(messageOf(error));
  const why = /deadline/i.test(said) ? "" : `: ${said}`;
  const otherwise = target.tls
    ? "Does it speak TLS, at that port?"
    : "Start one with: temporal server start-dev. Temporal Cloud needs --tls or a key.";
  return `No Temporal server answers at ${address}, tried for up to ${CONNECT_MS / 1000} s ${how(target)}${why}.\n${otherwise} Another one is named with --temporal or TEMPORAL_ADDRESS.`;
}

function refusedBy(target: Target, error: unknown): string | undefined {
  const code = codeIn(error);
  const { address, namespace } = target;
  if (code === NOT_FOUND)
    return `The Temporal server at ${address} has no namespace ${JSON.stringify(namespace)}. Name another with --namespace or TEMPORAL_NAMESPACE, or create it: temporal operator namespace create ${namespace}`;
  return code === PERMISSION_DENIED || code === UNAUTHENTICATED ? refusal(target) : undefined;
}

function refusal({ address, namespace, apiKey }: Target): string {
  const given = apiKey === undefined ? "no key, and wants one" : `the key in ${apiKey.from}, and refuses it`;
  return `The Temporal server at ${address} was given ${given} (namespace ${JSON.stringify(namespace)}). Name the variable that has the right one with --api-key-env.`;
}

/** What was tried, for who has to find out why it did not work. */
function how({ tls, apiKey }: Target): string {
  if (!tls) return "without TLS";
  return apiKey === undefined ? "with TLS" : `with TLS, since ${apiKey.from} has a key`;
}

function codeIn(error: unknown): number {
  const isCoded = typeof error === "object" && error !== null && "code" in error;
  return isCoded ? Number(error.code) : Number.NaN;
}
