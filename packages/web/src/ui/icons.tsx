import type { ReactElement, ReactNode, SVGProps } from "react";
import { cx } from "./class-names.ts";

type IconProps = Omit<SVGProps<SVGSVGElement>, "children">;
export type Icon = (props: IconProps) => ReactElement;

/** 16 px, drawn with lines of 1.5 px; hidden from screen readers, since a word always stands beside or above. */
function Drawn({ children, ...props }: IconProps & { children: ReactNode }) {
  return (
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
      className={cx("shrink-0", props.className)}
    >
      {children}
    </svg>
  );
}

const icon =
  (children: ReactNode): Icon =>
  (props) => <Drawn {...props}>{children}</Drawn>;

export const OverviewIcon = icon(<path d="M2 13.5h12M3.5 11V7.5M6.5 11V3M9.5 11V6M12.5 11V4.5" />);
export const InboxIcon = icon(<path d="M2 9.5 4 3h8l2 6.5V13H2V9.5Zm0 0h3.5l1 1.75h3l1-1.75H14" />);
export const RunsIcon = icon(<path d="M2 4h6M5 8h7M8 12h6" />);
export const PlaygroundIcon = icon(<path d="M2.5 3h11v8H8l-3 2.5V11H2.5V3Z" />);
export const AgentsIcon = icon(
  <>
    <rect x="3" y="5" width="10" height="8" rx="2" />
    <path d="M8 5V2.5M6.25 8.5v1M9.75 8.5v1M1.5 8v2M14.5 8v2" />
  </>,
);
export const SettingsIcon = icon(
  <>
    <path d="M2 4.5h6M12 4.5h2M2 11.5h2M8 11.5h6" />
    <circle cx="10" cy="4.5" r="1.75" />
    <circle cx="6" cy="11.5" r="1.75" />
  </>,
);
export const CopyIcon = icon(
  <>
    <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
    <path d="M10.5 3.5v-1h-8v8h1" />
  </>,
);
export const CheckIcon = icon(<path d="m3 8.5 3.25 3.25L13 4.5" />);
export const CloseIcon = icon(<path d="m4 4 8 8m0-8-8 8" />);
export const ChevronDownIcon = icon(<path d="m4 6 4 4 4-4" />);
export const ChevronRightIcon = icon(<path d="m6 4 4 4-4 4" />);
export const ChevronUpDownIcon = icon(<path d="m5 6 3-3 3 3M5 10l3 3 3-3" />);
export const PlusIcon = icon(<path d="M8 3v10M3 8h10" />);
export const MinusIcon = icon(<path d="M3 8h10" />);
export const SearchIcon = icon(
  <>
    <circle cx="7" cy="7" r="4.25" />
    <path d="m10.25 10.25 3.25 3.25" />
  </>,
);
export const SunIcon = icon(
  <>
    <circle cx="8" cy="8" r="2.75" />
    <path d="M8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7" />
  </>,
);
export const MoonIcon = icon(<path d="M13.5 9.5A5.75 5.75 0 0 1 6.5 2.5a5.75 5.75 0 1 0 7 7Z" />);
export const ScreenIcon = icon(
  <>
    <rect x="2" y="3" width="12" height="8" rx="1" />
    <path d="M6 13.5h4" />
  </>,
);
export const UserIcon = icon(
  <>
    <circle cx="8" cy="5.5" r="2.75" />
    <path d="M2.75 13.5a5.25 5.25 0 0 1 10.5 0" />
  </>,
);
export const MoreIcon = icon(<path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2" />);
export const LinkIcon = icon(
  <path d="M6.75 9.25a2.5 2.5 0 0 0 3.5 0l2.5-2.5a2.5 2.5 0 0 0-3.5-3.5l-.75.75M9.25 6.75a2.5 2.5 0 0 0-3.5 0l-2.5 2.5a2.5 2.5 0 0 0 3.5 3.5L7.5 12" />,
);
export const ExternalIcon = icon(<path d="M9 2.5h4.5V7M13 3 7.5 8.5M11 9.5v4H2.5V5h4" />);
export const DownloadIcon = icon(<path d="M8 2.5v7.5M4.75 7 8 10.25 11.25 7M2.5 13.5h11" />);
export const UploadIcon = icon(<path d="M8 10.5V3M4.75 6 8 2.75 11.25 6M2.5 13.5h11" />);
export const EditIcon = icon(<path d="m3 13 .75-3L10.5 3.25l2.25 2.25L6 12.25 3 13Z" />);
export const TrashIcon = icon(<path d="M2.5 4.5h11M6 4.5V2.75h4V4.5M4 4.5l.6 9h6.8l.6-9" />);
export const RetryIcon = icon(<path d="M13 8a5 5 0 1 1-1.5-3.6M13.25 2v2.75H10.5" />);
export const StopIcon = icon(<rect x="4" y="4" width="8" height="8" rx="1" fill="currentColor" />);
export const PlayIcon = icon(<path d="M5 3.25v9.5L12.5 8 5 3.25Z" />);
export const SendIcon = icon(<path d="M8 13V3.5M4 7.25 8 3.25l4 4" />);
export const BranchIcon = icon(
  <>
    <circle cx="4.5" cy="3.5" r="1.5" />
    <circle cx="4.5" cy="12.5" r="1.5" />
    <circle cx="11.5" cy="5.5" r="1.5" />
    <path d="M4.5 5v6M11.5 7c0 2.5-3 2.5-6.5 4" />
  </>,
);
export const LockIcon = icon(
  <>
    <rect x="3" y="7" width="10" height="6.5" rx="1.5" />
    <path d="M5.25 7V5a2.75 2.75 0 0 1 5.5 0v2" />
  </>,
);
export const WarningIcon = icon(<path d="M8 2.5 14.5 13.5h-13L8 2.5ZM8 6.5v3M8 11.6v.01" />);
export const InfoIcon = icon(
  <>
    <circle cx="8" cy="8" r="5.75" />
    <path d="M8 7.5v3.25M8 5.25v.01" />
  </>,
);
export const ToolIcon = icon(
  <path
    d="M9.5 6.5a3.25 3.25 0 0 1 4-4l-2 2 .25 1.25L13 6l2-2a3.25 3.25 0 0 1-4 4L5 14a1.6 1.6 0 0 1-2.5-2.5l7-5Z"
    transform="translate(-.75 .25)"
  />,
);
export const ClockIcon = icon(
  <>
    <circle cx="8" cy="8" r="5.75" />
    <path d="M8 4.75V8l2.25 1.5" />
  </>,
);
export const FilterIcon = icon(<path d="M2 3.5h12M4.5 8h7M6.5 12.5h3" />);
export const ArrowUpIcon = icon(<path d="M8 13V3M4 7l4-4 4 4" />);
export const ArrowDownIcon = icon(<path d="M8 3v10M4 9l4 4 4-4" />);
export const MenuIcon = icon(<path d="M2 4h12M2 8h12M2 12h12" />);
export const SpinnerIcon = icon(<path d="M8 2.25A5.75 5.75 0 1 1 2.25 8" />);
