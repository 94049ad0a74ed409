import { CodeBlock } from "../../ui/code-block.tsx";
import { WarningIcon } from "../../ui/icons.tsx";

/** A secret that nobody will see again: what it is, how to keep it, and the one time it is there. */
export function OnceShown({ label, secret, children }: { label: string; secret: string; children: string }) {
  return (
    <div className="flex flex-col gap-2">
      <p className="flex items-start gap-2 rounded-md border border-amber bg-amber-soft px-3 py-2 text-amber">
        <WarningIcon className="mt-0.5" />
        {children}
      </p>
      <CodeBlock label={label} code={secret} wrap className="break-all" />
    </div>
  );
}
