import { useEffect, useState } from "react";

/** The secret of a one-time link: `/sign-in#link=…`. Behind "#" it reaches no log and no Referer. */
function linkInHash(): string | undefined {
  return new URLSearchParams(location.hash.replace(/^#/, "")).get("link") || undefined;
}

/**
 * The link that the page was opened with, or that was pasted into its address bar since: a browser does not load a page
 * anew for what stands behind "#". The secret leaves the address bar; whoever asked still has it.
 */
export function useLink(): string | undefined {
  const [link, setLink] = useState(linkInHash);
  useEffect(() => {
    const take = () => {
      const found = linkInHash();
      if (found === undefined) return;
      setLink(found);
      history.replaceState(history.state, "", location.pathname + location.search);
    };
    take();
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);
  return link;
}
