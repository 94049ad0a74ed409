import { type PointerEvent, type RefObject, useEffect, useRef, useState } from "react";

/**
 * Moving the items of a list by a handle and a pointer. The items carry `data-item`. Nothing is lifted out of the page: the
 * item takes its new place as soon as the pointer has passed the middle of another one.
 */
export function useReorder(
  list: RefObject<HTMLElement | null>,
  move: (id: string, to: number) => void,
): {
  /** Who is being dragged. */
  readonly dragged: string | undefined;
  handle(id: string): { onPointerDown(event: PointerEvent<HTMLElement>): void };
} {
  const [dragged, setDragged] = useState<string>();
  const latest = useRef(move);
  useEffect(() => {
    latest.current = move;
  });
  useEffect(() => {
    if (dragged === undefined) return;
    // On the document: the handle itself is taken out and put in again when its item moves.
    const follow = ({ clientY }: globalThis.PointerEvent) => {
      const to = placeAt(list.current, dragged, clientY);
      if (to !== undefined) latest.current(dragged, to);
    };
    const drop = () => setDragged(undefined);
    document.addEventListener("pointermove", follow);
    document.addEventListener("pointerup", drop);
    document.addEventListener("pointercancel", drop);
    return () => {
      document.removeEventListener("pointermove", follow);
      document.removeEventListener("pointerup", drop);
      document.removeEventListener("pointercancel", drop);
    };
  }, [dragged, list]);
  return {
    dragged,
    handle: (id) => ({
      onPointerDown(event) {
        if (event.button !== 0) return;
        event.preventDefault(); // no text is selected on the way
        event.currentTarget.focus();
        setDragged(id);
      },
    }),
  };
}

/** The place of an item whose middle was passed; undefined where that is still its own. */
function placeAt(list: HTMLElement | null, id: string, y: number): number | undefined {
  const items = [...(list?.querySelectorAll<HTMLElement>("[data-item]") ?? [])];
  const own = items.findIndex((item) => item.dataset["item"] === id);
  let to = own;
  for (const [at, item] of items.entries()) {
    const { top, bottom } = item.getBoundingClientRect();
    const middle = (top + bottom) / 2;
    if (at < own && y < middle) return at;
    if (at > own && y > middle) to = at;
  }
  return to === own ? undefined : to;
}
