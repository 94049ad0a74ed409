import type { ReactNode, SVGProps } from "react";
import { AgentsIcon, ClockIcon, type Icon, ToolIcon, UserIcon } from "../../../ui/icons.tsx";
import type { Kind } from "../draft/definition.ts";

const drawn =
  (lines: ReactNode): Icon =>
  (props: SVGProps<SVGSVGElement>) => (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
      {...props}
    >
      {lines}
    </svg>
  );

export const WorkflowIcon = drawn(
  <>
    <rect x="1.5" y="6" width="4" height="4" rx="1" />
    <rect x="10.5" y="2" width="4" height="4" rx="1" />
    <rect x="10.5" y="10" width="4" height="4" rx="1" />
    <path d="M5.5 8H8m2.5-4H8v8h2.5" />
  </>,
);
export const UndoIcon = drawn(<path d="M5.5 3 2.5 6l3 3M2.5 6H10a3.5 3.5 0 0 1 0 7H6" />);
export const RedoIcon = drawn(<path d="m10.5 3 3 3-3 3M13.5 6H6a3.5 3.5 0 0 0 0 7h4" />);
export const FitIcon = drawn(<path d="M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10" />);

/** Kinds are told apart by shape and word; colours are for state. */
export const KIND_ICONS: Readonly<Record<Kind, Icon>> = {
  agent: AgentsIcon,
  tool: ToolIcon,
  condition: drawn(
    <path d="M8 1.75 14.25 8 8 14.25 1.75 8 8 1.75ZM6.5 6.5a1.5 1.5 0 1 1 1.5 1.5v.75M8 11v.01" />,
  ),
  map: drawn(<path d="M2 3.5h7M2 8h7M2 12.5h7M12 3.5l2 0M12 8h2M12 12.5h2" />),
  approval: UserIcon,
  wait: ClockIcon,
  workflow: WorkflowIcon,
};
