import { vi } from "vitest";

// Programs are built and processes start by the dozen: on a busy machine even that takes its time.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });
