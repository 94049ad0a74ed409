import { Menu as Base } from "@base-ui/react/menu";
import type { ReactElement, ReactNode } from "react";
import { cx } from "./class-names.ts";
import type { Icon } from "./icons.tsx";
import { KeyHint } from "./key-hint.tsx";

export interface MenuItem {
  /** A verb: "Clone", "Copy as curl". */
  label: string;
  icon?: Icon;
  keys?: string;
  danger?: boolean;
  disabled?: boolean;
  /** Why it is disabled, or what it means. */
  hint?: ReactNode;
  run(): void;
}

export interface MenuProps {
  /** A Button or IconButton. */
  trigger: ReactElement<Record<string, unknown>>;
  /** `null` draws a line between groups. */
  items: readonly (MenuItem | null)[];
  /** Above the items: who is signed in, what is selected. */
  header?: ReactNode;
  side?: "top" | "bottom" | "right";
  align?: "start" | "end";
}

export function Menu({ trigger, items, header, side = "bottom", align = "end" }: MenuProps) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner side={side} align={align} sideOffset={4} className="z-50 outline-none">
          <Base.Popup className="popup max-h-(--available-height) min-w-48 overflow-y-auto p-1">
            {header && <div className="border-b border-line px-2 pt-1 pb-2 text-sm">{header}</div>}
            {items.map((item, at) =>
              item === null ? (
                // biome-ignore lint/suspicious/noArrayIndexKey: a line has nothing else to go by
                <Base.Separator key={at} className="my-1 border-t border-line" />
              ) : (
                <Base.Item
                  key={item.label}
                  disabled={item.disabled ?? false}
                  onClick={item.run}
                  className={cx("option", item.danger && "text-red")}
                >
                  {item.icon && <item.icon />}
                  <span className="min-w-0 flex-1">
                    {item.label}
                    {item.hint && <span className="block text-xs text-muted">{item.hint}</span>}
                  </span>
                  {item.keys && <KeyHint keys={item.keys} />}
                </Base.Item>
              ),
            )}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
