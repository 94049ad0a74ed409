import { Link, Outlet } from "@tanstack/react-router";
import { useMay } from "../../session.ts";

const SECTIONS = [
  { to: "/settings/providers", label: "Providers", admin: false },
  { to: "/settings/users", label: "Users", admin: true },
  { to: "/settings/tokens", label: "API tokens", admin: false },
  { to: "/settings/audit", label: "Audit", admin: false },
] as const;

/** The sections of the settings, above whichever is open. */
export function SettingsLayout() {
  const admin = useMay("admin");
  return (
    <>
      <nav aria-label="Settings" className="sticky top-0 z-20 border-b border-line bg-canvas">
        <ul className="mx-auto flex max-w-360 gap-1 overflow-x-auto px-3 md:px-5">
          {SECTIONS.filter((section) => admin || !section.admin).map(({ to, label }) => (
            <li key={to}>
              <Link
                to={to}
                activeProps={{ "aria-current": "page" }}
                className="row inline-flex items-center border-b-2 border-transparent px-2 whitespace-nowrap text-muted -outline-offset-2 hover:text-ink aria-[current]:border-accent aria-[current]:font-medium aria-[current]:text-ink"
              >
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <Outlet />
    </>
  );
}
