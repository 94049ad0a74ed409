import { boundaries, cutAnswers } from "./cut-answers.ts";
import { range } from "./stage.ts";

// A cut changes a run only by what the provider's package makes of it, and `providers/faults.test.ts` cuts at every byte
// what the package reads. So whole runs are cut around every event, and at every 16th byte. `npm run prove` cuts them at
// every byte.
cutAnswers((events) => {
  const ends = boundaries(events);
  const length = ends.at(-1) ?? 0;
  const near = ends.flatMap((byte) => [byte - 2, byte - 1, byte, byte + 1]);
  const bytes = [...near, ...range(length + 1).filter((byte) => byte % 16 === 0)];
  return [...new Set(bytes)].filter((byte) => byte >= 0 && byte <= length);
}, 240_000);
