import type { JsonObject } from "trackside";
import type { Called, Situation } from "./read-prompt.ts";
import {
  CALLS,
  type Deploy,
  type ErrorRate,
  type Incident,
  type ServiceStatus,
  serviceNames,
} from "./shop.ts";

/** What the demo model says next: text, calls, or both. */
export interface Reply {
  readonly text: string;
  readonly calls?: readonly { readonly tool: string; readonly args: JsonObject }[];
}

export const SUGGESTIONS = [
  "Is anything wrong right now?",
  "Why is checkout slow?",
  "Open an incident for checkout",
] as const;

const OFFERED = /Shall I open an incident for (\S+)\?/;
const CAN_ASK = `You can ask how the shop is doing, about one of its services (${serviceNames.join(", ")}), what was deployed lately, or for an incident to be opened.`;

/** The rules of the demo model: what the question is about decides, then what the tools have said so far. */
export function reply(situation: Situation): Reply {
  const question = situation.question.toLowerCase();
  const about = serviceIn(question);
  const agrees = /^(yes|yep|sure|ok(ay)?|please|do it|go ahead)\b/.test(question);
  const offered = OFFERED.exec(situation.lastAnswer)?.[1];
  if (agrees && offered !== undefined) return incident(situation, offered);
  if (/^sum up\b/.test(question)) return { text: sumUp(situation.question) };
  if (/\b(incidents?|escalate|page)\b/.test(question)) return incident(situation, about);
  if (/\b(roll(ing)? ?back|revert|restart|fix|scale|undo)\b/.test(question)) return beyond();
  if (/\b(deploy(s|ed|ments?)?|releases?d?|shipped|chang(es?|ed))\b/.test(question))
    return deploys(situation, about);
  if (about !== undefined) return investigate(situation, about);
  if (/\b(thanks?|thank you|bye)\b/.test(question)) return { text: "You are welcome." };
  if (OVERVIEW.test(question)) return overview(situation);
  if (/^(hi|hello|hey|help)\b|\bwhat can\b|\bwho are\b/.test(question)) {
    return { text: `I watch over a small made-up shop. ${CAN_ASK}` };
  }
  return {
    text: `I am a scripted demo and know a few questions only, not this one. ${CAN_ASK}`,
  };
}

const OVERVIEW =
  /\b(wrong|broken|down|up|status|state|health|healthy|everything|services|shop|errors?|slow|problems?|issues?|alerts?|happen(ing|ed)?|going on|all good|okay)\b/;

function overview({ called }: Situation): Reply {
  const all = returned<readonly ServiceStatus[]>(called, "service_status");
  if (all === undefined) {
    return { text: "I look at all services first.", calls: [{ tool: "service_status", args: {} }] };
  }
  const bad = all.find((one) => one.state !== "ok");
  if (bad === undefined) return { text: `All ${all.length} services are fine.` };
  if (called.length > 1) return diagnosis(called, bad);
  return {
    text: `${capital(bad.service)} is degraded. I check its errors, those of what it calls, and what was deployed.`,
    calls: [
      ...[bad.service, ...callsOf(bad.service)].map((service) => ({ tool: "error_rate", args: { service } })),
      { tool: "recent_deploys", args: { service: bad.service } },
    ],
  };
}

function investigate({ called }: Situation, service: string): Reply {
  if (called.length === 0) {
    return {
      text: `I look at the state of ${service}, its errors and its latest deploys, all at once.`,
      calls: ["service_status", "error_rate", "recent_deploys"].map((tool) => ({ tool, args: { service } })),
    };
  }
  const status = returned<ServiceStatus>(called, "service_status");
  if (status === undefined) {
    return { text: `I know no service called ${service}. There are ${listed(serviceNames)}.` };
  }
  if (status.state === "ok") return { text: fine(called, status) };
  const unknown = callsOf(service).filter((name) => rateOf(called, name) === undefined);
  if (unknown.length > 0 && called.length <= 3) {
    return {
      text: `${capital(service)} calls ${listed(unknown)}, so I check that as well.`,
      calls: unknown.map((name) => ({ tool: "error_rate", args: { service: name } })),
    };
  }
  return diagnosis(called, status);
}

function fine(called: readonly Called[], { service, p95_ms }: ServiceStatus): string {
  const rate = rateOf(called, service);
  const busy = rate !== undefined && rate.load > 2;
  const load = busy
    ? ` It gets ${rate.load} times its usual requests, though: look at who calls it. Ask me about checkout.`
    : "";
  const errors = rate ? `, ${rate.failed_percent} % of its requests fail (${rate.usual} % is usual)` : "";
  return `${capital(service)} is fine: 95 % of requests take less than ${p95_ms} ms${errors}.${load}`;
}

function diagnosis(called: readonly Called[], { service, p95_ms, incident }: ServiceStatus): Reply {
  const rate = rateOf(called, service);
  const deploy = returned<readonly Deploy[]>(called, "recent_deploys")?.[0];
  const sentences = [
    `${capital(service)} is degraded: 95 % of requests take up to ${(p95_ms / 1000).toFixed(1)} s`,
  ];
  if (rate) sentences.push(`, and ${rate.failed_percent} % of them fail (${rate.usual} % is usual)`);
  sentences.push(".");
  for (const name of callsOf(service)) {
    const below = rateOf(called, name);
    if (below)
      sentences.push(` ${capital(name)} itself is well but gets ${below.load} times its usual requests.`);
  }
  if (deploy) {
    sentences.push(
      `\n\nThe likely cause is deploy ${deploy.id}, ${deploy.minutes_ago} minutes ago: "${deploy.change}". ` +
        "Each failing payment is now sent again and again. Rolling it back should help; I have no tool for that.",
    );
  }
  sentences.push(
    incident === undefined
      ? ` Shall I open an incident for ${service}?`
      : ` Incident ${incident} is open for it.`,
  );
  return { text: sentences.join("") };
}

function deploys({ called }: Situation, service: string | undefined): Reply {
  const found = returned<readonly Deploy[]>(called, "recent_deploys");
  if (found === undefined && called.length === 0) {
    return {
      text: "I look up the deploys of the last 24 hours.",
      calls: [{ tool: "recent_deploys", args: service === undefined ? {} : { service } }],
    };
  }
  if (found === undefined)
    return { text: `I know no service called ${service}. There are ${listed(serviceNames)}.` };
  if (found.length === 0) return { text: `Nothing was deployed to ${service} in the last 24 hours.` };
  const lines = found.map((one) => `- ${one.id}, ${one.service}, ${ago(one.minutes_ago)} ago: ${one.change}`);
  return { text: `In the last 24 hours:\n${lines.join("\n")}` };
}

function incident({ called, before }: Situation, about: string | undefined): Reply {
  const opened = returned<Incident>(called, "open_incident");
  if (opened) {
    return {
      text: opened.opened
        ? `I opened ${opened.id} for ${opened.service}, severity ${opened.severity}: "${opened.title}".`
        : `${opened.id} is open for ${opened.service} already: "${opened.title}".`,
    };
  }
  const tried = called.find(({ tool }) => tool === "open_incident");
  const refused = /^Not run: (.*?)\.?$/s.exec(tried?.problem ?? "")?.[1];
  if (refused !== undefined) return { text: `No incident was opened. ${capital(refused)}.` };
  if (tried) {
    return { text: `I know no service called ${about}. There are ${listed(serviceNames)}.` };
  }
  const seen = returned<readonly ServiceStatus[]>(called, "service_status");
  const service = about ?? seen?.find((one) => one.state !== "ok")?.service ?? lastService(before);
  if (service !== undefined) {
    const title =
      service === "checkout" ? "Checkout is slow and fails since deploy d-481" : `Problems with ${service}`;
    const severity = service === "checkout" ? "high" : "low";
    return {
      text: `I open an incident for ${service}.`,
      calls: [{ tool: "open_incident", args: { service, severity, title } }],
    };
  }
  if (seen) return { text: "All services are fine, so there is nothing to open an incident for." };
  return {
    text: "For which service? I look at what is wrong.",
    calls: [{ tool: "service_status", args: {} }],
  };
}

function beyond(): Reply {
  return {
    text: "I can look and I can open an incident; I have no tool that changes a service. Somebody has to do that by hand.",
  };
}

/** The first sentence of each paragraph after the question: more than that needs somebody who can read. */
function sumUp(question: string): string {
  const [, ...found] = question.split("\n\n");
  const firsts = found.map((one) => /^([^:\n]+):.*?([A-Z][^\n"]*?\.)(?=\s|"|$)/s.exec(one));
  const said = firsts.flatMap((one) => (one === null ? [] : [`${one[1]}: ${one[2]}`]));
  return said.length === 0 ? "There is nothing to sum up." : said.join("\n");
}

/** The service a question is about: one that exists, or a word where the name of one would be. */
function serviceIn(question: string): string | undefined {
  const known = serviceNames.find(
    (name) => question.includes(name) || question.includes(name.replace(/s$/, "")),
  );
  if (known !== undefined) return known;
  const named = /\b(?:status of|how is|how's|what about|check)\s+(?:the\s+|my\s+|our\s+)?([a-z][a-z-]+)/.exec(
    question,
  )?.[1];
  return named === undefined || NOT_A_SERVICE.test(named) ? undefined : named;
}

const NOT_A_SERVICE =
  /^(it|this|that|everything|all|anything|things?|services?|shop|life|today|going|now|errors?|if|on|with|for|what|whether|deploys?)$/;

function lastService(before: string): string | undefined {
  const found = serviceNames.map((name) => ({ name, at: before.toLowerCase().lastIndexOf(name) }));
  return found.filter(({ at }) => at >= 0).sort((a, b) => b.at - a.at)[0]?.name;
}

/** What a tool returned last. The demo's tools are the only ones there are, so their types are known. */
function returned<T>(called: readonly Called[], tool: string): T | undefined {
  return called.findLast((one) => one.tool === tool && one.value !== undefined)?.value as T | undefined;
}

function rateOf(called: readonly Called[], service: string): ErrorRate | undefined {
  const rates = called.filter(({ tool, value }) => tool === "error_rate" && value !== undefined);
  return rates.map(({ value }) => value as ErrorRate).find((rate) => rate.service === service); // as in `returned`
}

function callsOf(service: string): readonly string[] {
  return CALLS[service] ?? [];
}

function ago(minutes: number): string {
  return minutes < 90 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
