import type { Icon } from "../../ui/icons.tsx";

/** A list of which something is ticked. */
export const PlanIcon: Icon = (props) => (
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
    <path d="m2 4 1.25 1.25L5.5 2.75M2 11l1.25 1.25L5.5 9.75M8.5 4H14M8.5 11H14" />
  </svg>
);
