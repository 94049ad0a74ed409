import { pointAt, widthOf } from "./code-points.ts";

/** The characters of a pattern and how far they are read. The first problem stays. */
export class Reader {
  readonly text: string;
  at = 0;
  problem: string | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get done(): boolean {
    return this.at >= this.text.length;
  }

  starts(text: string): boolean {
    return this.text.startsWith(text, this.at);
  }

  /** Steps over a text if it is next. */
  takes(text: string): boolean {
    if (!this.starts(text)) return false;
    this.at += text.length;
    return true;
  }

  /** Steps over what a sticky expression finds here. */
  matches(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.at;
    const found = expression.exec(this.text);
    if (found !== null) this.at += found[0].length;
    return found;
  }

  point(): number {
    const point = pointAt(this.text, this.at);
    this.at += widthOf(point);
    return point;
  }

  fail(problem: string): void {
    this.problem ??= problem;
    this.at = this.text.length;
  }
}
