import { useEffect, useRef, useSyncExternalStore } from "react";
import { type KeyBinding, KeyRegistry } from "./registry.ts";

const registry = new KeyRegistry();

const KEYLESS_INPUTS = new Set(["checkbox", "radio", "button", "submit", "reset", "range", "file", "color"]);

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (
    target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  )
    return true;
  return target instanceof HTMLInputElement && !KEYLESS_INPUTS.has(target.type);
}

const CONTROLS = "button, a[href], summary, input, select, [role=button], [role=tab], [role=switch]";
const MODALS = "[role=dialog], [role=alertdialog], [role=menu], [role=listbox]";

/** Whether something is open over the page. Lists that were open once stay in the page, unseen. */
function isOverlaid(): boolean {
  return [...document.querySelectorAll(MODALS)].some((element) => element.checkVisibility());
}

if (typeof document !== "undefined") {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const target = event.target;
    const done = registry.handle(
      {
        key: event.key,
        shiftKey: event.shiftKey,
        ctrlKey: event.ctrlKey,
        metaKey: event.metaKey,
        altKey: event.altKey,
        repeat: event.repeat,
        typing: isTyping(target),
        onControl: target instanceof Element && target.closest(CONTROLS) !== null,
        modal: isOverlaid(),
      },
      performance.now(),
    );
    if (done) event.preventDefault();
  });
}

/**
 * Keys of what is on the screen, for as long as it is there. `scope` is the heading in the help dialog, like "Inbox".
 *
 *     useKeys("Inbox", [{ keys: "a", what: "Approve this call", run: approve }]);
 */
export function useKeys(scope: string, bindings: readonly KeyBinding[], options?: { modal?: boolean }): void {
  const latest = useRef(bindings);
  useEffect(() => {
    latest.current = bindings;
  });
  const modal = options?.modal ?? false;
  // What is listed changes the registration; which closure runs does not.
  const shape = JSON.stringify(
    bindings.map(({ keys, what, repeat, whileTyping, enabled }) => [
      keys,
      what,
      repeat,
      whileTyping,
      enabled,
    ]),
  );
  useEffect(() => {
    // The shape was just written by us, above.
    const listed = JSON.parse(shape) as [string, string, boolean?, boolean?, boolean?][];
    return registry.add(
      scope,
      listed.map(([keys, what, repeat, whileTyping, enabled], at) => ({
        keys,
        what,
        run: () => latest.current[at]?.run(),
        repeat: repeat === true,
        whileTyping: whileTyping === true,
        enabled: enabled !== false,
      })),
      modal,
    );
  }, [scope, shape, modal]);
}

/** All keys that work now, the page's own first. */
export function useListedKeys(): ReturnType<KeyRegistry["list"]> {
  return useSyncExternalStore(registry.subscribe, registry.list, registry.list);
}
