import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/** Every colour of tokens.css as [light, dark]. */
function tokens(): Map<string, [string, string]> {
  const css = readFileSync(join(import.meta.dirname, "tokens.css"), "utf8");
  const found = css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g);
  return new Map([...found].map(([, name = "", light = "", dark = ""]) => [name, [light, dark]]));
}

/** Relative luminance of WCAG 2. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

const surfaces = ["canvas", "panel", "raised", "sunken"];
const text = ["ink", "muted", "faint"];
const states = ["red", "amber", "green", "blue"];
const plots = [1, 2, 3, 4, 5, 6].map((at) => `plot-${at}`);

/** Which colour stands on which, and the least ratio: 4.5 for text, 3 for lines and shapes that carry meaning. */
const pairs: [string, string, number][] = [
  ...text.flatMap((ink) => surfaces.map((surface): [string, string, number] => [ink, surface, 4.5])),
  ...[...states, "accent"].flatMap((ink) =>
    surfaces.map((surface): [string, string, number] => [ink, surface, 4.5]),
  ),
  ...states.map((state): [string, string, number] => [state, `${state}-soft`, 4.5]),
  ["accent", "accent-soft", 4.5],
  ["ink", "accent-soft", 4.5],
  ["muted", "accent-soft", 4.5],
  ["faint", "accent-soft", 4.5],
  ["on-accent", "accent-fill", 4.5],
  ["on-accent", "red-fill", 4.5],
  // Numbers of lines in a diff.
  ["faint", "green-soft", 4.5],
  ["faint", "red-soft", 4.5],
  ["control", "canvas", 3],
  ["control", "panel", 3],
  ["control", "raised", 3],
  ["accent-fill", "canvas", 3],
  ...plots.map((plot): [string, string, number] => [plot, "canvas", 3]),
];

test("colours reach AA on what they stand on, in light and in dark", () => {
  const colours = tokens();
  const get = (name: string, theme: 0 | 1) => {
    const both = colours.get(name);
    if (!both) throw new Error(`tokens.css has no colour --${name}`);
    return both[theme];
  };
  const weak = ([0, 1] as const).flatMap((theme) =>
    pairs.flatMap(([ink, surface, least]) => {
      const ratio = contrast(get(ink, theme), get(surface, theme));
      const name = theme === 0 ? "light" : "dark";
      return ratio < least ? [`${name}: ${ink} on ${surface} is ${ratio.toFixed(2)}, not ${least}`] : [];
    }),
  );
  expect(weak).toEqual([]);
});

test("the ratio is that of WCAG: black on white is 21", () => {
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21);
  expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
});
