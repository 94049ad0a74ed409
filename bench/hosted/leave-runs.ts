/** Starts runs that stop in a tool, says when all of them have, and waits to be killed. */
import { PROMPT } from "../workload.ts";
import { hanging, openHost } from "./host.ts";

const [path = "", runs = ""] = process.argv.slice(2);
const trackside = openHost(path);
hanging.onBegun = () => {
  if (hanging.begun === Number(runs)) process.send?.("all begun");
};
await Promise.all(Array.from({ length: Number(runs) }, () => trackside.start("in a tool", PROMPT)));
