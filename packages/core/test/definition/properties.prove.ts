import { definitionProperties } from "./round-trips.ts";

definitionProperties(2_000);
