import { brokenSeals, seal } from "./support/corpus.ts";

seal();
for (const problem of brokenSeals()) console.error(problem);
