import { expect, test } from "vitest";
import { toOutput } from "./to-output.ts";
import { isText, ToolFile } from "./tool-file.ts";

const data = new TextEncoder().encode("a,b");

test("a file says what is wrong with it", () => {
  expect(new ToolFile({ mediaType: "text/csv; charset=utf-8", data, name: "a.csv" }).data).toBe(data);
  for (const wrong of [
    undefined,
    { mediaType: "csv", data },
    { mediaType: "text/csv\nx: y", data },
    { mediaType: "text/csv", data: "a,b" },
    { mediaType: "text/csv", data, name: "" },
    { mediaType: "text/csv", data, title: "x" },
  ])
    expect(() => new ToolFile(wrong as never)).toThrow("the tool's file");
});

test("T4 rails see the text of text files, and the size of others", () => {
  const csv = new ToolFile({ mediaType: "text/csv", data, name: "a.csv" });
  const png = new ToolFile({ mediaType: "image/png", data });
  expect(toOutput(csv)).toMatchObject({
    output: { value: [{ file: { index: 0, media_type: "text/csv", name: "a.csv", text: "a,b" } }] },
    files: [csv],
  });
  expect(toOutput(["x", png, { n: 1 }, csv])).toMatchObject({
    output: {
      value: [
        "x",
        { file: { index: 0, media_type: "image/png", bytes: 3 } },
        { n: 1 },
        { file: { index: 1 } },
      ],
    },
    files: [png, csv],
  });
});

test("T4 a file inside another value is refused, and so are too many", () => {
  const png = new ToolFile({ mediaType: "image/png", data });
  expect(toOutput({ picture: png })).toMatchObject({
    problem: expect.stringContaining("directly in a list"),
  });
  expect(toOutput([[png]])).toMatchObject({ problem: expect.stringContaining("directly in a list") });
  expect(toOutput(Array.from({ length: 101 }, () => png))).toMatchObject({
    problem: expect.stringContaining("101 files, at most 100"),
  });
  const large = new ToolFile({ mediaType: "image/png", data: new Uint8Array(40_000_000) });
  expect(toOutput([large, large])).toMatchObject({ problem: expect.stringContaining("bytes of files") });
});

test("what is text by its media type", () => {
  for (const type of [
    "text/plain",
    "TEXT/CSV; charset=utf-8",
    "application/json",
    "application/ld+json",
    "image/svg+xml",
    "application/x-ndjson",
  ])
    expect(isText(type)).toBe(true);
  for (const type of [
    "image/png",
    "application/pdf",
    "application/octet-stream",
    "application/zip",
    "audio/mpeg",
  ])
    expect(isText(type)).toBe(false);
});
