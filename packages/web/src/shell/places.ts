import {
  AgentsIcon,
  BranchIcon,
  ClockIcon,
  type Icon,
  InboxIcon,
  OverviewIcon,
  PlaygroundIcon,
  RunsIcon,
  SettingsIcon,
} from "../ui/icons.tsx";

export interface Place {
  to: "/" | "/inbox" | "/runs" | "/playground" | "/agents" | "/workflows" | "/schedules" | "/settings";
  label: string;
  icon: Icon;
  /** After `g`. */
  key: string;
}

export const PLACES: readonly Place[] = [
  { to: "/", label: "Overview", icon: OverviewIcon, key: "o" },
  { to: "/inbox", label: "Inbox", icon: InboxIcon, key: "i" },
  { to: "/runs", label: "Runs", icon: RunsIcon, key: "r" },
  { to: "/playground", label: "Playground", icon: PlaygroundIcon, key: "p" },
  { to: "/agents", label: "Agents", icon: AgentsIcon, key: "a" },
  { to: "/workflows", label: "Workflows", icon: BranchIcon, key: "w" },
  { to: "/schedules", label: "Schedules", icon: ClockIcon, key: "c" },
  { to: "/settings", label: "Settings", icon: SettingsIcon, key: "s" },
];
