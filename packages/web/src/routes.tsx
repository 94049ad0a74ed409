import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent as lazy,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { ApiProblem, explain, queryClient } from "./api.ts";
import { parseSearch, type Search, stringifySearch } from "./search.ts";
import { meQuery } from "./session.ts";
import { Shell } from "./shell/shell.tsx";
import { ErrorState } from "./ui/states.tsx";

const plainSearch = (search: Record<string, unknown>) => search as Search; // parseSearch made it

const root = createRootRoute({ component: Outlet, validateSearch: plainSearch, notFoundComponent: NotFound });

/** All pages but two are for those who are signed in; who is not comes back here afterwards. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  component: Shell,
  beforeLoad: async ({ location }) => {
    try {
      await queryClient.ensureQueryData(meQuery);
    } catch (error) {
      if (!(error instanceof ApiProblem) || error.status !== 401) throw error;
      const back = location.href === "/" ? {} : { redirect: location.href };
      throw redirect({ to: "/sign-in", search: back, replace: true });
    }
  },
});

const overview = createRoute({
  getParentRoute: () => signedIn,
  path: "/",
  component: lazy(() => import("./pages/overview/overview-page.tsx"), "OverviewPage"),
});

const inbox = createRoute({
  getParentRoute: () => signedIn,
  path: "/inbox",
  component: lazy(() => import("./pages/inbox/inbox-page.tsx"), "InboxPage"),
});
const approval = createRoute({
  getParentRoute: () => signedIn,
  path: "/inbox/$id",
  component: lazy(() => import("./pages/inbox/approval-page.tsx"), "ApprovalPage"),
});

const runs = createRoute({
  getParentRoute: () => signedIn,
  path: "/runs",
  component: lazy(() => import("./pages/runs/runs-page.tsx"), "RunsPage"),
});
const run = createRoute({
  getParentRoute: () => signedIn,
  path: "/runs/$id",
  component: lazy(() => import("./pages/runs/run-page.tsx"), "RunPage"),
});

const playground = createRoute({
  getParentRoute: () => signedIn,
  path: "/playground",
  component: lazy(() => import("./pages/playground/playground-page.tsx"), "PlaygroundPage"),
});
/** The conversation is in the search: `?conversation=…`. */
const playgroundOf = createRoute({
  getParentRoute: () => signedIn,
  path: "/playground/$agent",
  component: lazy(() => import("./pages/playground/playground-page.tsx"), "PlaygroundPage"),
});

const agents = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents",
  component: lazy(() => import("./pages/agents/agents-page.tsx"), "AgentsPage"),
});
const newAgent = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents/new",
  component: lazy(() => import("./pages/agents/new-agent-page.tsx"), "NewAgentPage"),
});
const agent = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents/$name",
  component: lazy(() => import("./pages/agents/agent-page.tsx"), "AgentPage"),
});
const versions = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents/$name/versions",
  component: lazy(() => import("./pages/agents/versions-page.tsx"), "VersionsPage"),
});

const plan = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents/$name/plan",
  component: lazy(() => import("./pages/plans/plan-page.tsx"), "PlanPage"),
});

const workflows = createRoute({
  getParentRoute: () => signedIn,
  path: "/workflows",
  component: lazy(() => import("./pages/workflows/workflows-page.tsx"), "WorkflowsPage"),
});
const newWorkflow = createRoute({
  getParentRoute: () => signedIn,
  path: "/workflows/new",
  component: lazy(() => import("./pages/workflows/new-workflow-page.tsx"), "NewWorkflowPage"),
});
/** A run or an older version of it is in the search: `?run=…`, `?version=…`. */
const workflow = createRoute({
  getParentRoute: () => signedIn,
  path: "/workflows/$name",
  component: lazy(() => import("./pages/workflows/workflow-page.tsx"), "WorkflowPage"),
});
const workflowVersions = createRoute({
  getParentRoute: () => signedIn,
  path: "/workflows/$name/versions",
  component: lazy(() => import("./pages/workflows/versions-page.tsx"), "WorkflowVersionsPage"),
});

const schedules = createRoute({
  getParentRoute: () => signedIn,
  path: "/schedules",
  component: lazy(() => import("./pages/schedules/schedules-page.tsx"), "SchedulesPage"),
});
const newSchedule = createRoute({
  getParentRoute: () => signedIn,
  path: "/schedules/new",
  component: lazy(() => import("./pages/schedules/new-schedule-page.tsx"), "NewSchedulePage"),
});
const schedule = createRoute({
  getParentRoute: () => signedIn,
  path: "/schedules/$id",
  component: lazy(() => import("./pages/schedules/schedule-page.tsx"), "SchedulePage"),
});

const settings = createRoute({
  getParentRoute: () => signedIn,
  path: "/settings",
  component: lazy(() => import("./pages/settings/settings-layout.tsx"), "SettingsLayout"),
});
const settingsIndex = createRoute({
  getParentRoute: () => settings,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/settings/providers", replace: true });
  },
});
const providers = createRoute({
  getParentRoute: () => settings,
  path: "/providers",
  component: lazy(() => import("./pages/settings/providers-page.tsx"), "ProvidersPage"),
});
const users = createRoute({
  getParentRoute: () => settings,
  path: "/users",
  component: lazy(() => import("./pages/settings/users-page.tsx"), "UsersPage"),
});
const tokens = createRoute({
  getParentRoute: () => settings,
  path: "/tokens",
  component: lazy(() => import("./pages/settings/tokens-page.tsx"), "TokensPage"),
});
const audit = createRoute({
  getParentRoute: () => settings,
  path: "/audit",
  component: lazy(() => import("./pages/settings/audit-page.tsx"), "AuditPage"),
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  component: lazy(() => import("./pages/sign-in/sign-in-page.tsx"), "SignInPage"),
});
const setup = createRoute({
  getParentRoute: () => root,
  path: "/setup",
  component: lazy(() => import("./pages/sign-in/setup-page.tsx"), "SetupPage"),
});

const tree = root.addChildren([
  signedIn.addChildren([
    overview,
    inbox,
    approval,
    runs,
    run,
    playground,
    playgroundOf,
    agents,
    newAgent,
    agent,
    versions,
    plan,
    workflows,
    newWorkflow,
    workflow,
    workflowVersions,
    schedules,
    newSchedule,
    schedule,
    settings.addChildren([settingsIndex, providers, users, tokens, audit]),
  ]),
  signIn,
  setup,
]);

export const router = createRouter({
  routeTree: tree,
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  defaultPreloadStaleTime: 0,
  // A page that is there within this time is shown without a skeleton in between.
  defaultPendingMs: 300,
  defaultErrorComponent: PageError,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: true,
  scrollToTopSelectors: ["#main"],
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

function NotFound() {
  return (
    <ErrorState
      what="There is no such page"
      why="The address leads nowhere."
      next={
        <>
          Check it, or go to the{" "}
          <Link to="/" className="text-accent underline">
            overview
          </Link>
          .
        </>
      }
    />
  );
}

/** A page that broke, or a server that did not answer when it was opened. */
function PageError({ error, reset }: { error: unknown; reset(): void }) {
  const ours = !(error instanceof ApiProblem);
  return (
    <ErrorState
      what={ours ? "This page broke" : "This page could not be loaded"}
      why={explain(error)}
      next={ours ? "Load it again. If it breaks again, report it with the words above." : undefined}
      retry={() => {
        reset();
        void router.invalidate();
      }}
    />
  );
}
