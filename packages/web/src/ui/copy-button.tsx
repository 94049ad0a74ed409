import { useEffect, useState } from "react";
import { Button, IconButton } from "./button.tsx";
import { CheckIcon, CopyIcon } from "./icons.tsx";
import { toast } from "./toast.tsx";

export interface CopyButtonProps {
  /** The text, or how it is made: large values are written out only when someone wants them. */
  text: string | (() => string | Promise<string>);
  /** "Copy JSON", "Copy as curl", "Copy link". */
  label?: string;
  /** Shows the label beside the icon. */
  labelled?: boolean;
  size?: "normal" | "small";
}

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages over plain http have no clipboard; the old way works there.
    const area = document.createElement("textarea");
    area.value = text;
    area.setAttribute("aria-hidden", "true");
    area.className = "fixed top-0 opacity-0";
    const focused = document.activeElement;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return done;
  }
}

export function CopyButton({ text, label = "Copy", labelled = false, size = "small" }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    const done = await copyText(typeof text === "string" ? text : await text());
    if (done) setCopied(true);
    else
      toast({
        kind: "problem",
        title: "Not copied",
        detail: "The browser did not allow it. Select the text and copy it by hand.",
      });
  };
  const icon = copied ? CheckIcon : CopyIcon;
  return (
    <>
      {labelled ? (
        <Button size={size} kind="quiet" icon={icon} onClick={copy}>
          {label}
        </Button>
      ) : (
        <IconButton size={size} icon={icon} label={label} onClick={copy} />
      )}
      <span aria-live="polite" className="sr-only">
        {copied ? "Copied" : ""}
      </span>
    </>
  );
}
