import { keyNames } from "../keys/chord.ts";

/** The keys of an action as they stand on a keyboard: "g o" is two presses, "shift+d" one. */
export function KeyHint({ keys }: { keys: string }) {
  return (
    <span className="inline-flex gap-1 whitespace-nowrap">
      {keyNames(keys).map((name, at) => (
        <kbd
          // biome-ignore lint/suspicious/noArrayIndexKey: the presses of one sequence never change places
          key={at}
          className="inline-grid h-5 min-w-5 place-items-center rounded-sm border border-line bg-panel px-1 font-sans text-xs text-muted"
        >
          {name}
        </kbd>
      ))}
    </span>
  );
}
