import { Tabs as Base } from "@base-ui/react/tabs";
import type { ReactNode } from "react";
import { cx } from "./class-names.ts";

export interface Tab<V extends string = string> {
  value: V;
  label: ReactNode;
  /** Beside the label: how much is in there. */
  count?: number;
  content: ReactNode;
}

export interface TabsProps<V extends string> {
  /** Kept in the URL by the page: `const [search, setSearch] = useSearchState()`. */
  value: V;
  onChange(value: NoInfer<V>): void;
  tabs: readonly Tab<NoInfer<V>>[];
  "aria-label": string;
  className?: string;
}

/** Only the open tab is mounted. Labels scroll sideways on a phone. */
export function Tabs<V extends string>({ value, onChange, tabs, className, ...rest }: TabsProps<V>) {
  return (
    <Base.Root
      value={value}
      // Only values of these tabs can be chosen.
      onValueChange={(next) => onChange(next as V)}
      className={cx("flex min-h-0 flex-col", className)}
    >
      <Base.List
        aria-label={rest["aria-label"]}
        className="flex shrink-0 gap-1 overflow-x-auto border-b border-line px-1"
      >
        {tabs.map((tab) => (
          <Base.Tab
            key={tab.value}
            value={tab.value}
            className="row inline-flex items-center gap-1.5 border-b-2 border-transparent px-2 whitespace-nowrap text-muted -outline-offset-2 hover:text-ink data-active:border-accent data-active:font-medium data-active:text-ink"
          >
            {tab.label}
            {tab.count !== undefined && <span className="text-xs text-faint tabular-nums">{tab.count}</span>}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map((tab) => (
        <Base.Panel key={tab.value} value={tab.value} className="min-h-0 flex-1 pt-3 -outline-offset-2">
          {tab.content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
