const tasks: (() => Promise<unknown>)[] = [];

/**
 * Runs `task` after the last test of the file that is running, the newest task first. Unlike `afterAll` it works in hooks and
 * tests, and in modules that several test files share.
 */
export function afterFile(task: () => Promise<unknown>): void {
  tasks.push(task);
}

/** Called by `setup.ts`. */
export async function endFile(): Promise<void> {
  for (const task of tasks.splice(0).reverse()) await task();
}
