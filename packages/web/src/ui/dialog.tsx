import { Dialog as Base } from "@base-ui/react/dialog";
import { type ReactNode, type RefObject, useRef } from "react";
import { IconButton } from "./button.tsx";
import { cx } from "./class-names.ts";
import { CloseIcon } from "./icons.tsx";

export interface DialogProps {
  open: boolean;
  onClose(): void;
  title: ReactNode;
  /** What this decides, and what will be lost if it destroys something. */
  description?: ReactNode;
  children?: ReactNode;
  /** Buttons, the way out first and what the title asks for last. */
  actions?: ReactNode;
  size?: "small" | "normal" | "large";
}

const WIDTHS = { small: "sm:w-96", normal: "sm:w-[32rem]", large: "sm:w-[56rem]" };
const BACKDROP = "fixed inset-0 z-40 bg-[rgb(0_0_0/0.45)]";

const FIELDS = "input, textarea, select, [role=combobox], [role=radio][aria-checked=true], [role=switch]";

/** The first field, else the way out: nobody should destroy something by pressing Enter once too often. */
function firstFocus(popup: RefObject<HTMLDivElement | null>): HTMLElement | true {
  const field = popup.current?.querySelector<HTMLElement>(
    `[data-body] :is(${FIELDS}):not([aria-hidden=true])`,
  );
  return field ?? popup.current?.querySelector<HTMLElement>("footer button") ?? true;
}

/** Over the page: focus goes in, stays in, and returns to where it was. On a phone it rises from the bottom. */
export function Dialog({
  open,
  onClose,
  title,
  description,
  children,
  actions,
  size = "normal",
}: DialogProps) {
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={BACKDROP} />
        <Base.Popup
          ref={popup}
          initialFocus={() => firstFocus(popup)}
          className={cx(
            "popup fixed inset-x-0 bottom-0 z-50 flex max-h-[92dvh] flex-col rounded-b-none pb-[env(safe-area-inset-bottom)]",
            "sm:inset-x-auto sm:top-[12dvh] sm:bottom-auto sm:left-1/2 sm:max-h-[76dvh] sm:max-w-[calc(100vw-32px)] sm:-translate-x-1/2 sm:rounded-lg sm:pb-0",
            WIDTHS[size],
          )}
        >
          <header className="flex items-start justify-between gap-3 px-4 pt-3 pb-2">
            <div className="min-w-0">
              <Base.Title className="text-lg font-semibold break-words">{title}</Base.Title>
              {description && (
                <Base.Description className="measure mt-1 text-muted">{description}</Base.Description>
              )}
            </div>
            <Base.Close render={<IconButton icon={CloseIcon} label="Close" />} />
          </header>
          {children && (
            <div data-body="" className="min-h-0 flex-1 overflow-y-auto px-4 py-2">
              {children}
            </div>
          )}
          {actions && (
            <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-4 py-3">
              {actions}
            </footer>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

export interface DrawerProps {
  open: boolean;
  onClose(): void;
  title: ReactNode;
  children: ReactNode;
  actions?: ReactNode;
  /** The page beside it stays in use: details of a selected row. */
  modal?: boolean;
}

/** From the right edge, as high as the window; on a phone the whole screen. */
export function Drawer({ open, onClose, title, children, actions, modal = true }: DrawerProps) {
  return (
    <Base.Root
      open={open}
      onOpenChange={(next) => !next && onClose()}
      modal={modal}
      disablePointerDismissal={!modal}
    >
      <Base.Portal>
        {modal && <Base.Backdrop className={BACKDROP} />}
        <Base.Popup
          role={modal ? "dialog" : "region"}
          className="popup fixed inset-y-0 right-0 z-50 flex w-full flex-col rounded-none border-y-0 border-r-0 sm:w-[min(44rem,80vw)]"
        >
          <header className="flex min-h-12 items-center justify-between gap-3 border-b border-line px-4">
            <Base.Title className="min-w-0 truncate text-lg font-semibold">{title}</Base.Title>
            <Base.Close render={<IconButton icon={CloseIcon} label="Close" />} />
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto p-4">{children}</div>
          {actions && (
            <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-4 py-3 pb-[max(12px,env(safe-area-inset-bottom))]">
              {actions}
            </footer>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
