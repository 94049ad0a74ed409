import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { modernServer } from "../support/modern-server.ts";
import { stateFile } from "./wire.ts";

/** Speaks the 2026 era only: whoever opens with `initialize` is turned away. */
serveStdio(() => modernServer(stateFile), { legacy: "reject" });
