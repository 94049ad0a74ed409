/** Says what was measured. It depends on the machine, so that nothing is asserted about times. */
export function measured(what: string, value: number, unit = "ms"): void {
  process.stderr.write(`measured: ${what} ${value} ${unit}\n`);
}
