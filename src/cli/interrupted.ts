/**
 * Aborts on Ctrl-C and SIGTERM, once this was called: for a command that has something to remove before it ends. It
 * is for the rest of the process.
 */
export function interrupted(): AbortSignal {
  const asked = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => asked.abort());
  return asked.signal;
}
