/** Opens a store in which runs were left, and says when they go on and how long the event loop was held at most. */
import { hanging, openHost } from "./host.ts";

const EVERY_MS = 5;
const [path = "", runs = ""] = process.argv.slice(2);
let first: number | undefined;
let heldMillis = 0;
let last = performance.now();
setInterval(() => {
  const now = performance.now();
  heldMillis = Math.max(heldMillis, now - last - EVERY_MS);
  last = now;
}, EVERY_MS);

hanging.onBegun = () => {
  first ??= performance.now(); // counted from the start of this process
  if (hanging.begun !== Number(runs)) return;
  const allMillis = performance.now();
  setTimeout(() => process.send?.({ firstMillis: first, allMillis, heldMillis }), 100);
};
await openHost(path).open();
