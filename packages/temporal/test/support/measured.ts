/** Says how long something took. It depends on the machine, so that nothing is asserted about it. */
export function measured(what: string, ms: number): void {
  process.stderr.write(`measured: ${what} ${ms} ms\n`);
}
