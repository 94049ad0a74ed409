import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "./api.ts";
import { connection } from "./connection.ts";
import { router } from "./routes.tsx";
import { onSignedOut } from "./signed-out.ts";
import "./styles/app.css";

// Everything on the screen may be old after the server was away.
connection.onComeback(() => {
  void queryClient.invalidateQueries();
  void router.invalidate();
});

// The session ended: to the sign-in, and back here afterwards.
onSignedOut(() => {
  const { pathname, href } = router.state.location;
  if (pathname === "/sign-in" || pathname === "/setup") return;
  queryClient.clear();
  void router.navigate({ to: "/sign-in", search: { redirect: href }, replace: true });
});

const element = document.getElementById("app");
if (!element) throw new Error('index.html has no element with the id "app"');
createRoot(element).render(
  <StrictMode>
    {/* The server's policy allows no style elements; ours say the same. */}
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
