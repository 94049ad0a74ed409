import { useEffect, useRef } from "react";
import type { Piece } from "../draft/edit.ts";
import { pieceIn, pieceText } from "../draft/pasted-piece.ts";

/** Copy, cut and paste of nodes, by the clipboard of the machine: also into another workflow or another window. */
export function useClipboard(handlers: {
  /** Undefined when nothing is selected: then the browser copies as usual. */
  copy(): Piece | undefined;
  cut(): void;
  paste(piece: Piece): void;
}): void {
  const latest = useRef(handlers);
  useEffect(() => {
    latest.current = handlers;
  });
  useEffect(() => {
    const take = (event: ClipboardEvent): boolean => {
      if (isBusy()) return false;
      const piece = latest.current.copy();
      if (piece === undefined) return false;
      event.clipboardData?.setData("text/plain", pieceText(piece));
      event.preventDefault();
      return true;
    };
    const onCopy = (event: ClipboardEvent) => void take(event);
    const onCut = (event: ClipboardEvent) => {
      if (take(event)) latest.current.cut();
    };
    const onPaste = (event: ClipboardEvent) => {
      if (isBusy()) return;
      const piece = pieceIn(event.clipboardData?.getData("text/plain") ?? "");
      if (piece === undefined) return;
      event.preventDefault();
      latest.current.paste(piece);
    };
    document.addEventListener("copy", onCopy);
    document.addEventListener("cut", onCut);
    document.addEventListener("paste", onPaste);
    return () => {
      document.removeEventListener("copy", onCopy);
      document.removeEventListener("cut", onCut);
      document.removeEventListener("paste", onPaste);
    };
  }, []);
}

/** Somebody types, has marked a text, or looks at a dialog: the clipboard is theirs. */
function isBusy(): boolean {
  const at = document.activeElement;
  if (at instanceof HTMLInputElement || at instanceof HTMLTextAreaElement) return true;
  if (document.querySelector("[role=dialog]")) return true;
  return (window.getSelection()?.toString() ?? "") !== "";
}
