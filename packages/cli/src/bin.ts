#!/usr/bin/env node
// Nothing is imported before the version is known: an older Node would fail on the first file with a riddle.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(`trackside needs Node 22.18 or newer; this is ${process.versions.node}.`);
  process.exit(2);
}

// Loading a user's agent.ts is our doing, so what Node thinks of running TypeScript is not theirs to read.
const listeners = process.listeners("warning");
process.removeAllListeners("warning");
process.on("warning", (warning) => {
  // What a host has to say is for whoever runs the command, not about the command.
  if (warning.name === "TracksideNotice") {
    process.stderr.write(`! ${clean(warning.message)}\n`);
    return;
  }
  const isAboutLoading =
    (warning.name === "ExperimentalWarning" && /type stripping/i.test(warning.message)) ||
    ("code" in warning && warning.code === "MODULE_TYPELESS_PACKAGE_JSON");
  if (!isAboutLoading) for (const listener of listeners) listener(warning);
});

const { clean } = await import("./screen/clean.ts");
const { main } = await import("./main.ts");
const { processIo } = await import("./io.ts");
// Not left to end by itself: an agent's file may hold timers and connections open.
process.exit(await main(process.argv.slice(2), processIo()));
