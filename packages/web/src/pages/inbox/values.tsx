import type { Json, JsonObject } from "trackside/schema";
import { CopyButton } from "../../ui/copy-button.tsx";
import { writtenOut } from "../../ui/json-rows.ts";
import { JsonView } from "../../ui/json-view.tsx";

/** Named values in full: a line each where they are plain, a tree where they are not. What is long scrolls in place. */
export function Values({ value, label }: { value: Json; label: string }) {
  if (!isFlat(value)) return <JsonView value={value} label={label} open={20} />;
  return (
    <div className="relative min-w-0 rounded-md border border-line bg-panel">
      <div className="absolute top-1 right-1 z-10 rounded-md bg-panel">
        <CopyButton
          text={() => JSON.stringify(value, null, 2)}
          label={`Copy ${label.toLowerCase()} as JSON`}
        />
      </div>
      <figure
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable with the keyboard
        tabIndex={0}
        aria-label={label}
        className="max-h-[60vh] overflow-y-auto px-3 py-2 pr-10 font-mono text-sm"
      >
        <dl className="grid grid-cols-[fit-content(40%)_1fr] gap-x-4">
          {Object.entries(value).map(([name, one]) => (
            <div key={name} className="contents">
              <dt className="break-words text-muted">{name}</dt>
              <dd className="min-w-0 break-words whitespace-pre-wrap text-ink">{written(one)}</dd>
            </div>
          ))}
        </dl>
      </figure>
    </div>
  );
}

const MANY = 30;

function isFlat(value: Json): value is JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const inside = Object.values(value);
  return (
    inside.length > 0 &&
    inside.length <= MANY &&
    inside.every((one) => typeof one !== "object" || one === null)
  );
}

/** Texts in quotes, so that "1" is not 1, with what cannot be seen spelled out. */
function written(value: Json): string {
  return typeof value === "string" ? writtenOut(value) : JSON.stringify(value);
}
