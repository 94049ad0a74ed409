/**
 * Resolves when no microtask is left: the loop has done all it can. A tick that a microtask asks for comes then, without a
 * turn of the event loop.
 */
export async function dry(): Promise<void> {
  await null;
  await new Promise<void>((resolve) => process.nextTick(resolve));
}
