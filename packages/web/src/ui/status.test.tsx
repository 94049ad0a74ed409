import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { RunStatusBadge, statusesOf } from "./run-status.tsx";
import { STATUSES, StatusBadge } from "./status-badge.tsx";

test("each status is a word and a shape of its own, so that it can be read without colour", () => {
  const badges = STATUSES.map((status) => renderToStaticMarkup(<StatusBadge status={status} />));
  STATUSES.forEach((status, at) => {
    expect(badges[at]).toContain(`${status}</span>`);
  });
  const shapes = badges.map((badge) => /<path d="([^"]+)"/.exec(badge)?.[1]);
  expect(new Set(shapes).size).toBe(STATUSES.length);
});

test("every stored status has one of the six words, and filters find it under that word", () => {
  expect(Object.fromEntries(STATUSES.map((status) => [status, statusesOf(status)]))).toEqual({
    Running: ["queued", "running"],
    "Waiting for you": ["waiting"],
    Done: ["completed"],
    Failed: ["error"],
    Stopped: ["cancelled"],
    Parked: ["parked"],
  });
  expect(renderToStaticMarkup(<RunStatusBadge status="cancelled" />)).toContain("Stopped");
});
