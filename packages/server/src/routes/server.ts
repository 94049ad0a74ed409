import type { Handlers } from "../http/handler.ts";
import { openApi } from "../openapi.ts";
import { VERSION } from "../version.ts";

export const serverHandlers = {
  async health(_input, { trackside }) {
    // One look into the store says more than any number of processes that are up.
    const setup = await trackside.access.needsSetup();
    // Its kind, not its place: anybody may ask.
    const [store = ""] = trackside.engine.store.name.split(" ");
    return { ok: true, version: VERSION, store, engine: trackside.engineName, setup };
  },

  async openApi() {
    return openApi();
  },
} satisfies Partial<Handlers>;
