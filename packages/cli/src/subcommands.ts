import { type Command, EXIT } from "./command.ts";
import { Complaint } from "./complaint.ts";
import { nearest } from "./nearest.ts";

/** A command with commands of its own. What comes before their names is for the one that needs no name. */
export function subcommands(
  name: string,
  {
    help,
    commands,
    otherwise,
  }: { help: string; commands: Readonly<Record<string, Command>>; otherwise: Command },
): Command {
  return {
    help,
    async run(args, io) {
      const [first = "", ...rest] = args;
      if (first === "--help" || first === "-h" || first === "help") {
        io.stdout.write(help);
        return EXIT.completed;
      }
      if (first === "" || first.startsWith("-")) return otherwise.run(args, io);
      const found = Object.hasOwn(commands, first) ? commands[first] : undefined;
      if (found !== undefined) return found.run(rest, io);
      const known = Object.keys(commands);
      const near = nearest(first, known);
      throw new Complaint(
        `${name} has no command ${JSON.stringify(first)}. ${near ? `Did you mean ${near}?` : `Known: ${known.join(", ")}.`} See trackside ${name} --help.`,
      );
    },
  };
}
