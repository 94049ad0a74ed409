import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useKeys } from "../keys/use-keys.ts";
import { usePageTitle, usePendingInTitle } from "../title.ts";
import { OfflineBar } from "../ui/offline-bar.tsx";
import { closeToasts, ToastRegion } from "../ui/toast.tsx";
import { KeysDialog } from "./keys-dialog.tsx";
import { Nav } from "./nav.tsx";
import { useLiveApprovals, usePending } from "./pending.ts";
import { PLACES } from "./places.ts";
import { UserMenu } from "./user-menu.tsx";

/** What is around every page: places, the keys that work everywhere, messages, and the offline bar. */
export function Shell() {
  const [keysOpen, setKeysOpen] = useState(false);
  const navigate = useNavigate();
  usePendingInTitle(usePending().count);
  useLiveApprovals();
  useKeys("Everywhere", [
    { keys: "?", what: "Show the keys of this page", run: () => setKeysOpen(true) },
    { keys: "/", what: "Search", run: focusSearch },
    { keys: "escape", what: "Close messages", run: closeToasts },
    ...PLACES.map(({ to, label, key }) => ({
      keys: `g ${key}`,
      what: `Go to ${label}`,
      run: () => void navigate({ to }),
    })),
  ]);
  return (
    <div className="flex h-dvh flex-col md:flex-row">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:popup focus:fixed focus:top-2 focus:left-2 focus:z-70 focus:px-3 focus:py-2"
      >
        Skip to the page
      </a>
      <OfflineBar />
      <aside className="hidden shrink-0 flex-col border-r border-line bg-panel px-2 py-3 md:flex md:w-48">
        <Link to="/" className="flex h-8 items-center gap-2 rounded-md px-2 font-semibold">
          <Mark />
          Trackside
        </Link>
        <Nav />
        <div className="mt-auto">
          <UserMenu side="top" onShowKeys={() => setKeysOpen(true)} />
        </div>
      </aside>
      <header className="flex h-12 shrink-0 items-center justify-between border-b border-line px-4 md:hidden">
        <Link to="/" className="flex items-center gap-2 font-semibold">
          <Mark />
          Trackside
        </Link>
        <UserMenu side="bottom" onShowKeys={() => setKeysOpen(true)} />
      </header>
      <Main />
      <div className="shrink-0 border-t border-line bg-panel pb-[env(safe-area-inset-bottom)] md:hidden">
        <Nav />
      </div>
      <ToastRegion />
      <KeysDialog open={keysOpen} onClose={() => setKeysOpen(false)} />
    </div>
  );
}

/** After a navigation the focus goes to the page, and its title is read out; a change of the search moves nothing. */
function Main() {
  const main = useRef<HTMLElement>(null);
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname });
  const before = useRef(path);
  const title = usePageTitle();
  useEffect(() => {
    if (before.current !== undefined && before.current !== path) main.current?.focus({ preventScroll: true });
    before.current = path;
  }, [path]);
  return (
    <main
      ref={main}
      id="main"
      tabIndex={-1}
      className="min-h-0 min-w-0 flex-1 overflow-y-auto outline-none md:[scrollbar-gutter:stable]"
    >
      <p aria-live="polite" className="sr-only">
        {title}
      </p>
      <Outlet />
    </main>
  );
}

function focusSearch(): void {
  const fields = document.querySelectorAll<HTMLElement>("[data-search]");
  const visible = [...fields].find((field) => field.offsetParent !== null);
  visible?.focus();
  if (visible instanceof HTMLInputElement) visible.select();
}

function Mark() {
  return (
    <svg width="20" height="20" viewBox="0 0 32 32" aria-hidden="true" className="text-accent">
      <path d="M5 10h22M5 22h10" stroke="currentColor" strokeWidth="4" strokeLinecap="round" fill="none" />
      <circle cx="23" cy="22" r="5" fill="currentColor" />
    </svg>
  );
}
