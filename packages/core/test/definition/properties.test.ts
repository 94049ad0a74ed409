import { definitionProperties } from "./round-trips.ts";

// The same definitions every time. `npm run prove` searches widely.
definitionProperties(100, { seed: 1 });
