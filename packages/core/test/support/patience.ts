/** For what is looked at again until it is so: a socket is closed when its process gets a turn. */
export const PATIENT = { timeout: 30_000 };

/** The milliseconds that this thread has worked, whoever else was at work meanwhile. */
export function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
