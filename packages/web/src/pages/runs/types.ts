import type { Answer } from "@trackside/server/client";
import type { LiveEvent as Live } from "trackside/schema";

export type RunRecord = Answer<"listRuns">["items"][number];
export type RunDetail = Answer<"getRun">;
/** A durable event, of the run itself or of one of its sub-agents. */
export type RunEvent = Answer<"listEvents">["items"][number];
export type EventOf<T extends RunEvent["type"]> = Extract<RunEvent, { type: T }>;
export type LiveEvent = Live;
export type Usage = RunRecord["usage"];
export type RailRecord = EventOf<"rail">["records"][number];
export type SentRequest = Answer<"listRequests">["items"][number];
