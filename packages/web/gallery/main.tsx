import { CSPProvider } from "@base-ui/react/csp-provider";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "../src/styles/app.css";
import { Gallery } from "./gallery.tsx";

const element = document.getElementById("app");
if (element)
  createRoot(element).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <Gallery />
      </CSPProvider>
    </StrictMode>,
  );
