const listeners = new Set<() => void>();

/** The server no longer knows us: the session has ended. */
export function signedOut(): void {
  for (const listener of listeners) listener();
}

export function onSignedOut(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
