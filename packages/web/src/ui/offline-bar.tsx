import { useIsOffline } from "../connection.ts";

/** A thin bar over the page, which recovers by itself. It lies above the page and moves nothing. */
export function OfflineBar() {
  const offline = useIsOffline();
  return (
    <div role="status" className="pointer-events-none fixed inset-x-0 top-0 z-50">
      {offline && (
        <p className="bg-amber-soft px-3 py-0.5 text-center text-xs text-amber shadow-[inset_0_-1px_0_var(--amber)]">
          Offline: the server does not answer. Trying again; what you see may be old.
        </p>
      )}
    </div>
  );
}
