/** Notices that the scheduler behind an open stream hangs: such a stream does not end. */
export interface SilenceWatch {
  /** To be called at each event. */
  received(): void;
}

/** After this time without an event the gateway is probed. */
const silentMs = 20_000;
const answerMs = 5_000;

/** Probes the gateway while the stream is open and silent; `onGone` is called when it does not respond. */
export function watchSilence(isOpen: () => boolean, onGone: () => void): SilenceWatch {
  let isReceived = true;
  setInterval(() => {
    const wasReceived = isReceived;
    isReceived = false;
    if (wasReceived || !isOpen()) return;
    void isThere().then((answered) => {
      if (!answered && !isReceived && isOpen()) onGone();
    });
  }, silentMs);
  return {
    received: () => {
      isReceived = true;
    },
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
