import { plural } from "../format/number.ts";
import { ArrowUpIcon } from "./icons.tsx";

/**
 * "3 new runs": they wait until someone asks for them, so that nothing moves under the pointer. The bar lies over the
 * list and takes no place in it.
 */
export function NewRowsBar({
  count,
  one = "row",
  many,
  onShow,
}: {
  count: number;
  one?: string;
  many?: string;
  onShow(): void;
}) {
  return (
    <div aria-live="polite" className="pointer-events-none sticky top-0 z-20 flex h-0 justify-center">
      {count > 0 && (
        <button
          type="button"
          onClick={onShow}
          className="popup pointer-events-auto mt-10 inline-flex h-7 items-center gap-1 rounded-full px-3 text-sm font-medium text-accent coarse:h-10"
        >
          <ArrowUpIcon width={12} height={12} />
          {plural(count, `new ${one}`, `new ${many ?? `${one}s`}`)}
        </button>
      )}
    </div>
  );
}
