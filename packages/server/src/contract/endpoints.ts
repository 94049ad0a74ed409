/** What a credential must allow: nobody has to be known for `nobody`, every role may `read`. */
export type Needs = "nobody" | "read" | "operate" | "decide" | "admin";

export interface Endpoint {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/api/v1`, parameters as `{name}`. */
  readonly path: string;
  readonly needs: Needs;
  readonly tag: string;
  readonly summary: string;
  /** What it answers with: JSON unless given. */
  readonly answers?: "events" | "text" | "bytes" | "lines";
  readonly status?: 201 | 202 | 204;
}

const get = (path: string, needs: Needs, tag: string, summary: string) =>
  ({ method: "GET", path, needs, tag, summary }) as const;
const post = (path: string, needs: Needs, tag: string, summary: string) =>
  ({ method: "POST", path, needs, tag, summary }) as const;
const put = (path: string, needs: Needs, tag: string, summary: string) =>
  ({ method: "PUT", path, needs, tag, summary }) as const;
const patch = (path: string, needs: Needs, tag: string, summary: string) =>
  ({ method: "PATCH", path, needs, tag, summary }) as const;
const remove = (path: string, needs: Needs, tag: string, summary: string) =>
  ({ method: "DELETE", path, needs, tag, summary, status: 204 }) as const;

/**
 * Every endpoint of the HTTP API, by name. Plain data: the router, the OpenAPI document, the typed client and the test of
 * who may do what are all made from it. What goes in and out is in `shapes.ts`, under the same names.
 */
export const endpoints = {
  health: get("/health", "nobody", "Server", "Whether it works"),
  openApi: get("/openapi.json", "nobody", "Server", "This API as an OpenAPI document"),
  metrics: { ...get("/metrics", "read", "Server", "Numbers for Prometheus"), answers: "text" },

  finishSetup: post("/setup", "nobody", "Sign-in", "Makes the first admin, with the one-time link"),
  signIn: post("/session", "nobody", "Sign-in", "Signs in by name and password, or by a one-time link"),
  signOut: remove("/session", "read", "Sign-in", "Ends the session"),
  me: get("/me", "read", "Sign-in", "Who is signed in, and what they may do"),

  listAgents: get("/agents", "read", "Agents", "Agents, with what became of their runs"),
  createAgent: { ...post("/agents", "admin", "Agents", "Makes an agent"), status: 201 },
  validateAgent: post("/agents/validate", "read", "Agents", "Everything that is wrong with a definition"),
  previewAgent: post(
    "/agents/preview",
    "read",
    "Agents",
    "The tools of a definition as the model will see them",
  ),
  importAgent: {
    ...post("/agents/import", "admin", "Agents", "Makes an agent of an exported definition"),
    status: 201,
  },
  getAgent: get("/agents/{name}", "read", "Agents", "One agent"),
  saveAgent: put("/agents/{name}", "admin", "Agents", "Saves an agent; a stale version is refused"),
  deleteAgent: remove("/agents/{name}", "admin", "Agents", "Deletes an agent; its runs stay"),
  cloneAgent: { ...post("/agents/{name}/clone", "admin", "Agents", "Copies an agent"), status: 201 },
  exportAgent: get(
    "/agents/{name}/export",
    "read",
    "Agents",
    "The definition, field for field as it is serialized",
  ),
  listVersions: get("/agents/{name}/versions", "read", "Agents", "Versions of an agent, newest first"),
  getVersion: get("/agents/{name}/versions/{version}", "read", "Agents", "An agent as it was"),
  diffVersions: get("/agents/{name}/diff", "read", "Agents", "What differs between two versions"),
  restoreVersion: post("/agents/{name}/restore", "admin", "Agents", "Saves an older version as the newest"),

  listWorkflows: get("/workflows", "read", "Workflows", "Workflows, with what became of their runs"),
  createWorkflow: { ...post("/workflows", "admin", "Workflows", "Makes a workflow"), status: 201 },
  validateWorkflow: post(
    "/workflows/validate",
    "read",
    "Workflows",
    "Everything that is wrong with a definition",
  ),
  importWorkflow: {
    ...post("/workflows/import", "admin", "Workflows", "Makes a workflow of an exported definition"),
    status: 201,
  },
  listWorkflowTemplates: get("/workflow-templates", "read", "Workflows", "Workflows to start from"),
  workflowCatalog: get(
    "/workflow-catalog",
    "read",
    "Workflows",
    "What nodes may name: agents, tools, workflows and rails with their schemas",
  ),
  getWorkflow: get("/workflows/{name}", "read", "Workflows", "One workflow"),
  saveWorkflow: put(
    "/workflows/{name}",
    "admin",
    "Workflows",
    "Saves a workflow; a stale version is refused, runs under way keep theirs",
  ),
  deleteWorkflow: remove("/workflows/{name}", "admin", "Workflows", "Deletes a workflow; its runs stay"),
  cloneWorkflow: {
    ...post("/workflows/{name}/clone", "admin", "Workflows", "Copies a workflow"),
    status: 201,
  },
  exportWorkflow: get(
    "/workflows/{name}/export",
    "read",
    "Workflows",
    "The definition, field for field as it is serialized",
  ),
  listWorkflowVersions: get(
    "/workflows/{name}/versions",
    "read",
    "Workflows",
    "Versions of a workflow, newest first",
  ),
  getWorkflowVersion: get(
    "/workflows/{name}/versions/{version}",
    "read",
    "Workflows",
    "A workflow as it was",
  ),
  diffWorkflowVersions: get(
    "/workflows/{name}/diff",
    "read",
    "Workflows",
    "What differs between two versions",
  ),
  restoreWorkflowVersion: post(
    "/workflows/{name}/versions/{version}/restore",
    "admin",
    "Workflows",
    "Saves an older version as the newest",
  ),
  startWorkflow: {
    ...post("/workflows/{name}/runs", "operate", "Workflows", "Starts a run of a workflow"),
    status: 202,
  },
  submitWait: post(
    "/waits/{id}",
    "nobody",
    "Workflows",
    "Goes on with a node that waits for this; whoever has the address may",
  ),

  listSchedules: get("/schedules", "read", "Schedules", "What starts by the clock or by a webhook"),
  createSchedule: {
    ...post("/schedules", "operate", "Schedules", "Makes a schedule; the secret of a webhook is shown once"),
    status: 201,
  },
  previewSchedule: post(
    "/schedules/preview",
    "read",
    "Schedules",
    "What is wrong with a trigger, or when it is due: the next five times",
  ),
  getSchedule: get("/schedules/{id}", "read", "Schedules", "One schedule with its next five times"),
  saveSchedule: put(
    "/schedules/{id}",
    "operate",
    "Schedules",
    "Saves a schedule; a stale version is refused",
  ),
  deleteSchedule: remove("/schedules/{id}", "operate", "Schedules", "Deletes a schedule; its runs stay"),
  enableSchedule: post("/schedules/{id}/enable", "operate", "Schedules", "Switches a schedule on"),
  disableSchedule: post("/schedules/{id}/disable", "operate", "Schedules", "Switches a schedule off"),
  fireSchedule: {
    ...post("/schedules/{id}/fire", "operate", "Schedules", "Starts what it is for, now"),
    status: 202,
  },
  rotateScheduleSecret: post(
    "/schedules/{id}/secret",
    "operate",
    "Schedules",
    "A new secret for its webhooks, shown once",
  ),
  listFirings: get("/schedules/{id}/firings", "read", "Schedules", "When it was due and what came of it"),
  triggerSchedule: {
    ...post(
      "/triggers/{id}",
      "nobody",
      "Schedules",
      "A webhook for a schedule: whoever has signed it with the schedule's secret may",
    ),
    status: 202,
  },

  getPlanBoard: get(
    "/agents/{name}/plan",
    "read",
    "Plans",
    "The plan of an agent, who works on it, and whether the agent does so by itself",
  ),
  listPlanVersions: get("/agents/{name}/plans", "read", "Plans", "Versions of its plans, newest first"),
  createPlan: {
    ...post("/agents/{name}/plans", "operate", "Plans", "Makes a plan; it supersedes the active one"),
    status: 201,
  },
  generatePlan: {
    ...post("/agents/{name}/plans/generate", "operate", "Plans", "Has the agent's planner make one"),
    status: 202,
  },
  getPlan: get("/plans/{id}", "read", "Plans", "One plan with what came of its steps"),
  savePlan: put("/plans/{id}", "operate", "Plans", "Saves a plan; a stale version is refused"),
  runPlan: {
    ...post("/plans/{id}/run", "operate", "Plans", "Runs every step that is left; ends a stop"),
    status: 202,
  },
  stopPlan: {
    ...post("/plans/{id}/stop", "operate", "Plans", "Stops all work on it until it is run again"),
    status: 202,
  },
  runPlanStep: {
    ...post("/plans/{id}/steps/{step}/run", "operate", "Plans", "Runs one step, or again one that is over"),
    status: 202,
  },
  verifyPlanStep: {
    ...post("/plans/{id}/steps/{step}/verify", "operate", "Plans", "Judges its output by its criteria"),
    status: 202,
  },
  skipPlanStep: post("/plans/{id}/steps/{step}/skip", "operate", "Plans", "Leaves a step out"),

  listTools: get("/tools", "read", "Registry", "Tools that agents may be given"),
  listRails: get("/rails", "read", "Registry", "Rails, with the schemas of their options"),
  listHooks: get("/hooks", "read", "Registry", "Hooks, with the schemas of their options"),
  listServers: get("/mcp-servers", "read", "Registry", "MCP servers of the configuration"),
  listModels: get("/models", "read", "Registry", "Models that are known, with windows and prices"),

  listProviders: get("/providers", "read", "Providers", "Providers, and whether each has a key"),
  setProvider: put(
    "/providers/{provider}",
    "admin",
    "Providers",
    "Sets a key or an address; a key is never shown again",
  ),
  deleteProviderKey: remove("/providers/{provider}/key", "admin", "Providers", "Forgets a key"),
  testProvider: post("/providers/{provider}/test", "admin", "Providers", "Asks a provider for one token"),

  listConversations: get("/conversations", "read", "Conversations", "Conversations, newest first"),
  createConversation: {
    ...post("/conversations", "operate", "Conversations", "Begins a conversation"),
    status: 201,
  },
  importConversation: {
    ...post("/conversations/import", "operate", "Conversations", "A conversation from JSON lines"),
    status: 201,
  },
  getConversation: get("/conversations/{id}", "read", "Conversations", "A conversation and its branches"),
  deleteConversation: remove(
    "/conversations/{id}",
    "admin",
    "Conversations",
    "Erases content, artifacts and journal",
  ),
  listMessages: get("/branches/{id}/messages", "read", "Conversations", "The messages of a branch"),
  sendMessage: {
    ...post("/branches/{id}/send", "operate", "Conversations", "The next turn of a branch"),
    status: 202,
  },
  createBranch: {
    ...post("/branches/{id}/branch", "operate", "Conversations", "A branch from a message on"),
    status: 201,
  },
  exportBranch: {
    ...get("/branches/{id}/export", "read", "Conversations", "A branch as JSON lines"),
    answers: "lines",
  },

  listRuns: get("/runs", "read", "Runs", "Runs, newest first"),
  startRun: { ...post("/runs", "operate", "Runs", "Starts a run"), status: 202 },
  getRun: get("/runs/{id}", "read", "Runs", "One run"),
  listEvents: get(
    "/runs/{id}/events",
    "read",
    "Runs",
    "Durable events of a run, with those of its sub-agents if asked for",
  ),
  streamRun: {
    ...get("/runs/{id}/stream", "read", "Runs", "Events as they happen; resumes with Last-Event-ID"),
    answers: "events",
  },
  listRequests: get("/runs/{id}/requests", "read", "Runs", "Model requests as they were really sent"),
  cancelRun: post("/runs/{id}/cancel", "operate", "Runs", "Stops a run and its sub-agents"),
  steerRun: {
    ...post("/runs/{id}/steer", "operate", "Runs", "Sends a message to a run under way"),
    status: 202,
  },
  injectNote: {
    ...post("/runs/{id}/inject", "operate", "Runs", "Adds a note to the next model call"),
    status: 202,
  },
  resumeRun: post("/runs/{id}/resume", "operate", "Runs", "Lets a parked run go on"),
  retryRun: {
    ...post("/runs/{id}/retry", "operate", "Runs", "A new run from one of its steps"),
    status: 202,
  },
  exportRun: get("/runs/{id}/export", "read", "Runs", "Everything there is of a run"),

  listApprovals: get("/approvals", "read", "Approvals", "What waits for a human, and what was decided"),
  streamApprovals: {
    ...get("/approvals/stream", "read", "Approvals", "Changes of the inbox as they happen"),
    answers: "events",
  },
  getApproval: get("/approvals/{id}", "read", "Approvals", "One approval with its evidence"),
  decideApproval: post("/approvals/{id}/decide", "decide", "Approvals", "Decides; the first decision wins"),
  listRules: get("/approval-rules", "read", "Approvals", "Decisions that are remembered"),
  revokeRule: post("/approval-rules/{id}/revoke", "decide", "Approvals", "Remembers a decision no longer"),

  listArtifacts: get("/artifacts", "read", "Artifacts", "Large results and files of runs"),
  getArtifact: get("/artifacts/{id}", "read", "Artifacts", "What is known of one"),
  readArtifact: {
    ...get("/artifacts/{id}/content", "read", "Artifacts", "Its bytes, as a download"),
    answers: "bytes",
  },

  listAudit: get("/audit", "read", "Audit", "Who did what, newest first"),
  verifyAudit: post(
    "/audit/verify",
    "read",
    "Audit",
    "Walks the chain and says what is wrong with which row",
  ),

  stats: get("/stats", "read", "Overview", "Runs, tokens, cost, latency, errors and verdicts over time"),

  listUsers: get("/users", "admin", "Access", "Users"),
  createUser: {
    ...post("/users", "admin", "Access", "Makes a user; without a password a sign-in link comes back"),
    status: 201,
  },
  updateUser: patch("/users/{id}", "admin", "Access", "Changes role or password, disables or enables"),
  deleteUser: remove("/users/{id}", "admin", "Access", "Removes a user and ends their sessions"),
  listTokens: get("/tokens", "read", "Access", "API tokens: your own, or everybody's for admins"),
  createToken: { ...post("/tokens", "read", "Access", "Makes a token, which is shown once"), status: 201 },
  revokeToken: remove("/tokens/{id}", "read", "Access", "Ends a token: your own, or anybody's for admins"),
} as const satisfies Readonly<Record<string, Endpoint>>;

export type EndpointName = keyof typeof endpoints;
