import { expect, test } from "vitest";
import { keyNames, matches, parseKeys } from "./chord.ts";
import { KeyRegistry, type PressContext } from "./registry.ts";

function press(key: string, more: Partial<PressContext> = {}): PressContext {
  const held = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false };
  return { key, ...held, repeat: false, typing: false, onControl: false, modal: false, ...more };
}

function registryWith(scope = "Inbox") {
  const registry = new KeyRegistry();
  const done: string[] = [];
  const add = (keys: string, more = {}, where = scope) =>
    registry.add(where, [{ keys, what: keys, run: () => done.push(`${where} ${keys}`), ...more }]);
  return { registry, done, add };
}

test("a letter is meant without shift, whatever caps lock says", () => {
  const [a] = parseKeys("a");
  if (!a) throw new Error("no chord");
  expect(matches(a, press("a"))).toBe(true);
  expect(matches(a, press("A"))).toBe(true);
  expect(matches(a, press("A", { shiftKey: true }))).toBe(false);
  expect(matches(a, press("a", { ctrlKey: true }))).toBe(false);
  expect(matches(a, press("a", { altKey: true }))).toBe(false);
});

test("a sign is meant however the layout makes it", () => {
  const [help] = parseKeys("?");
  if (!help) throw new Error("no chord");
  expect(matches(help, press("?", { shiftKey: true }))).toBe(true);
  expect(matches(help, press("?"))).toBe(true);
});

test("keys that cannot be meant are refused where they are written down", () => {
  expect(() => parseKeys("hyper+a")).toThrow(/hold down "hyper"; allowed are shift, mod/);
  expect(() => parseKeys(" ")).toThrow(/name no key/);
  expect(keyNames("g o")).toEqual(["G", "O"]);
  expect(keyNames("mod+enter")).toEqual(["Ctrl Enter"]);
});

test("two presses go places, unless too much time or another key comes between", () => {
  const { registry, done, add } = registryWith();
  add("g o");
  expect(registry.handle(press("g"), 0)).toBe(true);
  expect(registry.handle(press("o"), 400)).toBe(true);
  registry.handle(press("g"), 1000);
  registry.handle(press("o"), 9000);
  registry.handle(press("g"), 10_000);
  registry.handle(press("x"), 10_100);
  registry.handle(press("o"), 10_200);
  expect(done).toEqual(["Inbox g o"]);
});

test("after g the second press goes places even where the page has that key", () => {
  const { registry, done, add } = registryWith();
  add("g a", {}, "Everywhere");
  add("a");
  registry.handle(press("g"), 0);
  registry.handle(press("a"), 100);
  registry.handle(press("a"), 200);
  expect(done).toEqual(["Everywhere g a", "Inbox a"]);
});

test("nothing happens while someone types, but for keys that say so", () => {
  const { registry, done, add } = registryWith();
  add("a", { whileTyping: true });
  add("mod+enter", { whileTyping: true });
  add("escape");
  for (const key of ["a", "Escape"]) expect(registry.handle(press(key, { typing: true }), 0)).toBe(false);
  expect(registry.handle(press("Enter", { typing: true, ctrlKey: true }), 0)).toBe(true);
  expect(registry.handle(press("Enter", { typing: true, metaKey: true }), 0)).toBe(true);
  expect(done).toEqual(["Inbox mod+enter", "Inbox mod+enter"]);
});

test("leaning on a key decides once", () => {
  const { registry, done, add } = registryWith();
  add("a");
  add("j", { repeat: true });
  registry.handle(press("a"), 0);
  registry.handle(press("a", { repeat: true }), 30);
  registry.handle(press("j", { repeat: true }), 60);
  expect(done).toEqual(["Inbox a", "Inbox j"]);
});

test("the page behind an open dialog hears nothing", () => {
  const { registry, done, add } = registryWith();
  add("a");
  registry.add("Dialog", [{ keys: "y", what: "Yes", run: () => done.push("Dialog y") }], true);
  expect(registry.handle(press("a", { modal: true }), 0)).toBe(false);
  expect(registry.handle(press("y", { modal: true }), 0)).toBe(true);
  expect(done).toEqual(["Dialog y"]);
});

test("Enter on a button is the button's", () => {
  const { registry, done, add } = registryWith();
  add("enter");
  expect(registry.handle(press("Enter", { onControl: true }), 0)).toBe(false);
  expect(registry.handle(press("Enter"), 0)).toBe(true);
  expect(done).toEqual(["Inbox enter"]);
});

test("what came last answers first and is listed first, and is gone when it leaves", () => {
  const { registry, done, add } = registryWith();
  add("x", {}, "Everywhere");
  const leave = add("x");
  registry.handle(press("x"), 0);
  expect(registry.list().map((group) => group.scope)).toEqual(["Inbox", "Everywhere"]);
  leave();
  registry.handle(press("x"), 0);
  expect(done).toEqual(["Inbox x", "Everywhere x"]);
  expect(registry.list().map((group) => group.scope)).toEqual(["Everywhere"]);
});

test("a key that is off is as if it were not there", () => {
  const { registry, done, add } = registryWith();
  add("a", {}, "Everywhere");
  add("a", { enabled: false });
  registry.handle(press("a"), 0);
  expect(done).toEqual(["Everywhere a"]);
});
