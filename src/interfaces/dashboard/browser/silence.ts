/** After this time without an event the gateway is probed. */
const silentMs = 20_000;
const answerMs = 5_000;

/**
 * Notices that the scheduler behind an open stream hangs, as such a stream does not end: probes the gateway while the
 * stream is silent, and calls `onGone` when it does not respond. Returns what is to be called at each event.
 */
export function watchSilence(isOpen: () => boolean, onGone: () => void): () => void {
  let isReceived = true;
  setInterval(() => {
    const wasReceived = isReceived;
    isReceived = false;
    if (wasReceived || !isOpen()) return;
    void isThere().then((answered) => {
      if (!answered && !isReceived && isOpen()) onGone();
    });
  }, silentMs);
  return () => {
    isReceived = true;
  };
}

/** Any response will do, but that of a proxy whose gateway is down. */
async function isThere(): Promise<boolean> {
  try {
    return (await fetch("/health", { signal: AbortSignal.timeout(answerMs) })).status < 500;
  } catch {
    return false;
  }
}
