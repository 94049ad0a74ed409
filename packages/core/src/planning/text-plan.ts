import type { Step } from "./parse-plan.ts";

interface Line {
  readonly indent: number;
  readonly text: string;
}

interface ReadLine extends Line {
  /** In a code fence, where numbers count nothing. */
  readonly fenced: boolean;
}

/** A line that begins a step. */
interface Heading {
  /** "Step 1" rather than "1." */
  readonly spelt: boolean;
  readonly title: string;
  readonly rest: string;
}

/** The steps of a numbered list; undefined when there is none. Lines below a number are its detail. */
export function stepsOfText(text: string): readonly Step[] | undefined {
  const lines = readLines(text);
  const headings = lines.map((line) => (line.fenced ? undefined : readHeading(line.text)));
  // Numbers below "Step 1" count what is inside that step.
  const spelt = headings.some((heading) => heading?.spelt);
  const first = lines.find((_, i) => headings[i]?.spelt === spelt);
  const margin = first?.indent ?? 0;

  const steps: { title: string; rest: string; below: Line[] }[] = [];
  for (const [i, { indent, text }] of lines.entries()) {
    const heading = headings[i];
    if (heading?.spelt === spelt && indent <= margin + 1)
      steps.push({ title: heading.title, rest: heading.rest, below: [] });
    else steps.at(-1)?.below.push({ indent, text });
  }
  const found = steps.flatMap(({ title, rest, below }) =>
    titled(title, [...(rest === "" ? [] : [rest]), ...dedented(below)]),
  );
  return found.length === 0 ? undefined : found;
}

/** A number with nothing beside it is called what its first line says. */
function titled(title: string, detail: readonly string[]): Step[] {
  if (title !== "") return [detail.length === 0 ? { title } : { title, detail: detail.join("\n") }];
  const [first, ...others] = detail;
  const instead = bare(first ?? "");
  return instead === "" ? [] : titled(instead, others);
}

/** Lines as far in as they are beyond the others. */
function dedented(lines: readonly Line[]): string[] {
  const margin = lines.reduce((least, { indent }) => Math.min(least, indent), Number.POSITIVE_INFINITY);
  return lines.map(({ indent, text }) => `${" ".repeat(Math.min(indent - margin, MAX_INDENT))}${text}`);
}

const MAX_INDENT = 8;

/** Lines that say something. What stands in a code fence begins no step, unless everything does. */
function readLines(text: string): readonly ReadLine[] {
  const lines = text
    .split("\n")
    .map((line) => ({ indent: indentOf(line), text: line.trim(), fenced: false }))
    .filter((line) => line.text !== "");
  const isFence = (line: Line | undefined) => line?.text.startsWith("```") === true;
  if (isFence(lines[0]) && isFence(lines.at(-1)) && lines.filter(isFence).length === 2)
    return lines.slice(1, -1);
  let inside = false;
  return lines.map((line) => {
    const fence = isFence(line);
    if (fence) inside = !inside;
    return { ...line, fenced: inside || fence };
  });
}

function indentOf(line: string): number {
  let width = 0;
  for (const char of line) {
    if (char === " ") width++;
    else if (char === "\t") width += 4;
    else break;
  }
  return width;
}

const NUMBERED = /^(?:\((\d{1,3})\)|(\d{1,3})[.)])(?=\s|\*|$)\s*/;
const SPELT = /^step\s{1,3}\d{1,3}(?:\s{0,3}[.):–—-]|(?=\*\*)|$)\s*/i;

function readHeading(line: string): Heading | undefined {
  let text = line.replace(/^#{1,6}\s+/, "");
  const bold = text.startsWith("**");
  if (bold) text = text.slice(2);
  const spelt = SPELT.exec(text);
  const marker = spelt ?? NUMBERED.exec(text);
  if (marker === null) return undefined;
  const after = text.slice(marker[0].length);
  return { spelt: spelt !== null, ...(bold ? closeBold(after) : splitBold(after)) };
}

/** `Title** rest` or, where only the number was bold, `** Title`. */
function closeBold(text: string): { title: string; rest: string } {
  const end = text.indexOf("**");
  if (end === -1) return { title: bare(text), rest: "" };
  const after = text.slice(end + 2);
  return end === 0 ? splitBold(after.trim()) : { title: bare(text.slice(0, end)), rest: withoutColon(after) };
}

/** `**Title**: rest`, or a title all through. */
function splitBold(text: string): { title: string; rest: string } {
  const end = text.startsWith("**") ? text.indexOf("**", 2) : -1;
  if (end <= 2) return { title: bare(text), rest: "" };
  return { title: bare(text.slice(2, end)), rest: withoutColon(text.slice(end + 2)) };
}

function withoutColon(text: string): string {
  return text.replace(/^\s*[:.–—-]?\s*/, "").trim();
}

/** A title without marks of emphasis and without the colon that leads to its detail. */
function bare(text: string): string {
  const plain = text.replaceAll("**", "").trim();
  return plain.endsWith(":") ? plain.slice(0, -1).trimEnd() : plain;
}
