import { describe } from "vitest";
import type { Stores } from "../support.ts";
import { canarySuite } from "./canary.ts";
import { linksSuite } from "./links.ts";
import { racesSuite } from "./races.ts";
import { sessionsSuite } from "./sessions.ts";
import { tokensSuite } from "./tokens.ts";
import { usersSuite } from "./users.ts";

/** Everything access promises, on whichever database. */
export function accessSuite(stores: Stores): void {
  describe("users", () => usersSuite(stores));
  describe("sessions", () => sessionsSuite(stores));
  describe("tokens", () => tokensSuite(stores));
  describe("links", () => linksSuite(stores));
  describe("races", () => racesSuite(stores));
  describe("secrets", () => canarySuite(stores));
}
