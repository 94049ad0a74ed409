import { setTimeout as sleep } from "node:timers/promises";
import { defineTool, type JsonObject, type Tool } from "trackside";

/** The made-up shop: four services, one of which is in trouble since its last deploy. Nothing outside is touched. */

export interface ServiceStatus {
  readonly service: string;
  readonly state: "ok" | "degraded";
  readonly p95_ms: number;
  /** The incident that is open for it. */
  readonly incident?: string;
}

export interface ErrorRate {
  readonly service: string;
  readonly failed_percent: number;
  readonly usual: number;
  /** Requests, in multiples of what is usual. */
  readonly load: number;
}

export interface Deploy {
  readonly id: string;
  readonly service: string;
  readonly minutes_ago: number;
  readonly change: string;
  readonly by: string;
}

export interface Incident {
  readonly id: string;
  readonly service: string;
  readonly severity: string;
  readonly title: string;
  readonly opened: boolean;
}

interface Service extends Omit<ServiceStatus, "service" | "incident">, Omit<ErrorRate, "service"> {
  /** What it takes to count its errors. */
  readonly ms: number;
}

const SERVICES: Readonly<Record<string, Service>> = {
  storefront: { state: "ok", p95_ms: 180, failed_percent: 0.2, usual: 0.2, load: 1, ms: 90 },
  checkout: { state: "degraded", p95_ms: 2410, failed_percent: 6.4, usual: 0.3, load: 1.1, ms: 240 },
  payments: { state: "ok", p95_ms: 390, failed_percent: 0.5, usual: 0.4, load: 3.3, ms: 310 },
  search: { state: "ok", p95_ms: 95, failed_percent: 0.1, usual: 0.1, load: 0.9, ms: 120 },
};

/** Which service calls which. */
export const CALLS: Readonly<Record<string, readonly string[]>> = {
  storefront: ["checkout", "search"],
  checkout: ["payments"],
};

const DEPLOYS: readonly Deploy[] = [
  {
    id: "d-481",
    service: "checkout",
    minutes_ago: 24,
    change: "Retry failed card payments up to 5 times",
    by: "mia@shop.example",
  },
  {
    id: "d-480",
    service: "search",
    minutes_ago: 310,
    change: "New synonyms for winter coats",
    by: "jo@shop.example",
  },
  {
    id: "d-479",
    service: "storefront",
    minutes_ago: 1260,
    change: "Smaller product images",
    by: "mia@shop.example",
  },
];

const serviceName = {
  type: "string",
  description: `One of ${Object.keys(SERVICES).join(", ")}`,
};

/** The tools of the on-call assistant, over a shop of their own: an incident lives as long as they do. */
export function shopTools(): readonly Tool[] {
  const incidents = new Map<string, Incident>();

  const statusOf = (name: string): ServiceStatus => {
    const { state, p95_ms } = find(name);
    const incident = incidents.get(name);
    return { service: name, state, p95_ms, ...(incident ? { incident: incident.id } : {}) };
  };

  return [
    defineTool({
      name: "service_status",
      description: "State and latency of one service, or of all when none is named.",
      input: object({ service: serviceName }),
      effect: "none",
      async execute(args, { signal }) {
        await sleep(80, undefined, { signal });
        const name = text(args, "service");
        return name === undefined ? Object.keys(SERVICES).map(statusOf) : statusOf(name);
      },
    }),
    defineTool({
      name: "error_rate",
      description:
        "Percent of failed requests of a service over the last 15 minutes, what is usual, and its load in multiples of the usual.",
      input: object({ service: serviceName }, ["service"]),
      effect: "none",
      async execute(args, { signal }) {
        const name = text(args, "service") ?? "";
        const { failed_percent, usual, load, ms } = find(name);
        await sleep(ms, undefined, { signal });
        return { service: name, failed_percent, usual, load };
      },
    }),
    defineTool({
      name: "recent_deploys",
      description: "Deploys of the last 24 hours, newest first, of one service or of all.",
      input: object({ service: serviceName }),
      effect: "none",
      async execute(args, { signal }) {
        await sleep(150, undefined, { signal });
        const name = text(args, "service");
        if (name !== undefined) find(name);
        return DEPLOYS.filter((deploy) => name === undefined || deploy.service === name);
      },
    }),
    defineTool({
      name: "open_incident",
      description: "Opens an incident for a service; one that is open already is returned as it is.",
      input: object(
        {
          service: serviceName,
          severity: { type: "string", enum: ["low", "high"] },
          title: { type: "string", description: "What is wrong, in one line" },
        },
        ["service", "severity", "title"],
      ),
      effect: "idempotent",
      async execute(args, { signal }) {
        const name = text(args, "service") ?? "";
        find(name);
        await sleep(200, undefined, { signal });
        const open = incidents.get(name);
        if (open) return { ...open, opened: false };
        const incident: Incident = {
          id: `INC-${101 + incidents.size}`,
          service: name,
          severity: text(args, "severity") ?? "low",
          title: text(args, "title") ?? "",
          opened: true,
        };
        incidents.set(name, incident);
        return incident;
      },
    }),
  ];
}

export const serviceNames: readonly string[] = Object.keys(SERVICES);

function find(name: string): Service {
  const found = Object.hasOwn(SERVICES, name) ? SERVICES[name] : undefined;
  if (found === undefined)
    throw new Error(`There is no service "${name}". Known: ${serviceNames.join(", ")}.`);
  return found;
}

function object(properties: JsonObject, required: string[] = []): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}

/** Arguments come as JSON that the schema has checked. */
function text(args: unknown, key: string): string | undefined {
  const value = typeof args === "object" && args !== null ? Reflect.get(args, key) : undefined;
  return typeof value === "string" ? value : undefined;
}
