import { Agent } from "trackside";
import { scriptedModel } from "trackside/testing";
import type { Parts } from "./parts.ts";

/** The parts of a control room with one agent that answers at once. */
const parts: Parts = { agents: [new Agent({ name: "clerk", model: scriptedModel(["done"]) })] };
export default parts;
