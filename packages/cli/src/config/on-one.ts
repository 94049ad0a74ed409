import { noMore, readArguments } from "../arguments.ts";
import { type Command, EXIT, showHelp } from "../command.ts";
import type { Io } from "../io.ts";
import { findId } from "../short-id.ts";
import { type InStore, inStore, STORE_OPTIONS } from "./in-store.ts";

export interface OnOne {
  readonly help: string;
  /** How it is written, for who writes too much. */
  readonly usage: string;
  readonly table: Parameters<typeof findId>[1];
  /** It prints JSON, whether asked to or not. */
  readonly json?: true;
  readonly work: (opened: InStore, id: string, io: Io) => Promise<void>;
}

/** A command on one record of a store, with no options of its own: its argument is the record's id, or an end of it. */
export function onOne({ help, usage, table, json, work }: OnOne): Command {
  return {
    help,
    async run(args, io) {
      const { values, positionals } = readArguments(args, STORE_OPTIONS);
      if (values.help) return showHelp(io, help);
      noMore(positionals, 1, usage);
      return inStore(io, json ? { ...values, json } : values, async (opened) => {
        const id = await findId(opened.trackside, table, positionals[0], opened.scope.tenant);
        await work(opened, id, io);
        return EXIT.completed;
      });
    },
  };
}
