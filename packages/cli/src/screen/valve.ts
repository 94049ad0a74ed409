import { Writable } from "node:stream";
import type { Output } from "../io.ts";

/** A terminal's output that can be shut: what is written meanwhile is not shown, now or later. */
export class Valve extends Writable {
  readonly #target: Output;
  shut = false;

  constructor(target: Output) {
    super({ decodeStrings: false });
    this.#target = target;
    target.on("resize", () => this.emit("resize"));
  }

  get isTTY(): boolean {
    return this.#target.isTTY === true;
  }

  get columns(): number | undefined {
    return this.#target.columns;
  }

  override _write(chunk: string | Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (!this.shut) this.#target.write(chunk);
    done();
  }
}
