import { useIsOffline } from "../connection.ts";

/** A thin bar at the top, which goes by itself. It lies over the page and moves nothing; its words hang in the middle. */
export function OfflineBar() {
  const offline = useIsOffline();
  return (
    <div role="status" className="pointer-events-none fixed inset-x-0 top-0 z-50 flex justify-center">
      {offline && (
        <>
          <span className="absolute inset-x-0 top-0 h-0.5 bg-amber" />
          <p className="rounded-b-md border-x border-b border-amber bg-amber-soft px-3 py-0.5 text-xs text-amber">
            Offline, trying again<span className="max-md:hidden">: what you see may be old</span>
          </p>
        </>
      )}
    </div>
  );
}
