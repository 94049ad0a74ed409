import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

// What agents read and write besides prose: made here, or our own source.

const WORDS = (
  "order invoice customer refund payment status pending shipment warehouse price quantity total report summary " +
  "session token request response error timeout retry deploy cluster region latency budget planner reviewer"
).split(" ");

/** The same numbers on every run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

const next = numbers(11);
const whole = (below: number): number => Math.floor(next() * below);
const word = (): string => WORDS[whole(WORDS.length)] ?? "";
const hash = (i: number): string => createHash("sha256").update(String(i)).digest("hex");
const lines = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join("\n");
const day = (i: number): string =>
  `2026-0${1 + (i % 9)}-1${i % 10}T0${i % 10}:${10 + (i % 50)}:${10 + (i % 49)}.${100 + i}Z`;

const rows = Array.from({ length: 14 }, (_, i) => ({
  id: 10_000 + whole(80_000),
  customer_name: `${word()}_${word()}`,
  email: `${word()}@example.com`,
  created_at: day(i),
  amount: whole(100_000) / 100,
  active: i % 2 === 0,
  tags: [word(), word()],
  note: null,
  address: { street: `${word()} street ${whole(200)}`, zip: String(whole(99_999)) },
}));

const source = (path: string): string =>
  readFileSync(resolve(import.meta.dirname, "../../../src", path), "utf8");

export const MATERIAL: Readonly<Record<string, string>> = {
  "TypeScript source": source("turn/run-turn.ts"),
  "TypeScript with many comments": source("schema/message.ts"),
  "JSON, compact": JSON.stringify(rows),
  "JSON, indented": JSON.stringify(rows, null, 2),
  "a log": lines(30, (i) =>
    i % 3 === 0
      ? `${day(i)} ERROR worker[${whole(32_768)}]: connection to 10.${whole(255)}.0.${whole(255)}:5432 refused (attempt ${i})`
      : `${day(i)} INFO  [exec-${i}] OrderController - GET /api/v1/orders/${whole(1_000_000)} 200 ${whole(900)}ms`,
  ),
  "a stack trace": lines(
    20,
    (i) => `    at ${word()}.${word()} (/srv/app/src/${word()}/${word()}.js:${i * 7}:${i})`,
  ),
  addresses: lines(
    25,
    () =>
      `https://www.example.com/${word()}/${word()}-${word()}?source=${word()}&id=${whole(9_999_999)}#${word()}`,
  ),
  UUIDs: lines(30, (i) => hash(i).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5")),
  hexadecimal: lines(20, hash).replaceAll("\n", ""),
  base64: Buffer.from(lines(20, hash).replaceAll("\n", ""), "hex").toString("base64"),
  CSV: lines(
    40,
    (i) => `${i},${word()} ${word()},${whole(10_000) / 100},${whole(20)},2026-0${1 + (i % 9)}-1${i % 10}`,
  ),
  "a table": lines(
    30,
    () => `| ${word().padEnd(20)} | ${String(whole(99_999)).padStart(10)} | ${word().padEnd(30)} |`,
  ),
  SQL: lines(
    12,
    (i) =>
      `SELECT u.id, u.${word()}, COUNT(*) AS total FROM ${word()}s u LEFT JOIN orders o ON o.user_id = u.id WHERE u.created_at >= '2026-0${1 + (i % 9)}-01' GROUP BY u.id LIMIT 50;`,
  ),
  HTML: lines(
    20,
    (i) =>
      `<li class="item item--${word()}" data-id="${i}"><a href="/p/${word()}/${i}">${word()} ${word()}</a><span class="price">${whole(9_999) / 100}</span></li>`,
  ),
  "mostly blanks": lines(
    40,
    (i) =>
      `${" ".repeat(4 * (i % 7))}${word()}${i % 5 === 0 ? "\n\n" : ""}\n${"\t".repeat(i % 4)}${word()}  `,
  ),
};
