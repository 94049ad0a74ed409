import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Flow, type FlowOptions, flowed } from "./flow.ts";
import { widthOf } from "./width.ts";

const narrow: FlowOptions = { width: 20, indent: 2 };

describe("text that flows", () => {
  test("wraps between words and indents every line", () => {
    expect(flowed("The quick brown fox jumps over it", narrow)).toBe(
      "  The quick brown\n  fox jumps over it\n",
    );
  });

  test("keeps lines and the indentation of code, but no line breaks at either end", () => {
    expect(flowed("\n\nif (a)\n    b();\n\nend\n\n", narrow)).toBe("  if (a)\n      b();\n\n  end\n");
  });

  test("goes on below the first word of a line", () => {
    expect(flowed("list:\n   - one two three four", narrow)).toBe(
      "  list:\n     - one two three\n     four\n",
    );
  });

  test("breaks a word that is longer than a line", () => {
    expect(flowed("x".repeat(40), narrow)).toBe(`  ${"x".repeat(18)}\n  ${"x".repeat(18)}\n  xxxx\n`);
  });

  test("counts what takes two columns as two, and breaks between such characters", () => {
    expect(flowed("日本語の長い文章です。終わり", narrow)).toBe("  日本語の長い文章で\n  す。終わり\n");
  });

  test("shows a word as soon as the next one begins", () => {
    let shown = "";
    const flow = new Flow((text) => {
      shown += text;
    }, narrow);
    flow.push("Hel");
    expect(shown).toBe("");
    flow.push("lo wor");
    expect(shown).toBe("  Hello");
    flow.end();
    expect(shown).toBe("  Hello wor\n");
  });

  test("looks the same however it was cut, and never leaves its columns", () => {
    const text = fc.string({
      unit: fc.constantFrom(
        "a",
        "bc",
        " ",
        "  ",
        "\n",
        "\t",
        "日",
        "é",
        "👍",
        "\u00a0",
        "\u3000",
        "\x1b",
        "w".repeat(9),
      ),
      maxLength: 60,
    });
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 100 })), (whole, cuts) => {
        let shown = "";
        const flow = new Flow((piece) => {
          shown += piece;
        }, narrow);
        const places = [...cuts.map((cut) => Math.min(cut, whole.length)), whole.length].sort(
          (a, b) => a - b,
        );
        let from = 0;
        for (const to of places) {
          flow.push(whole.slice(from, to));
          from = to;
        }
        flow.end();
        expect(shown).toBe(flowed(whole, narrow));
        for (const line of shown.split("\n")) {
          expect(widthOf(line)).toBeLessThanOrEqual(narrow.width);
          if (line !== "") expect(line).toMatch(/^ {2}/);
        }
      }),
    );
  });

  test("is left as it is where there is no width", () => {
    const text = `${"word ".repeat(100)}\n    ${"x".repeat(500)}`;
    expect(flowed(text, { width: Number.POSITIVE_INFINITY, indent: 2 })).toBe(
      `  ${"word ".repeat(100).trimEnd()}\n      ${"x".repeat(500)}\n`,
    );
  });
});
