/** Notices that nobody is behind an open stream any more: no end is heard of a scheduler that hangs. */
export interface SilenceWatch {
  /** Something was heard. */
  heard(): void;
}

/** A stream that says nothing this long is asked about. */
const silentMs = 20_000;
const answerMs = 5_000;

/** Asks, while the stream is open and silent, whether somebody is there; `onGone` hears that nobody answered. */
export function watchSilence(isOpen: () => boolean, onGone: () => void): SilenceWatch {
  let isHeard = true;
  setInterval(() => {
    const wasHeard = isHeard;
    isHeard = false;
    if (wasHeard || !isOpen()) return;
    void isThere().then((answered) => {
      if (!answered && !isHeard && isOpen()) onGone();
    });
  }, silentMs);
  return {
    heard: () => {
      isHeard = true;
    },
  };
}

/** Any answer will do, but that of a proxy which has nobody behind it. */
async function isThere(): Promise<boolean> {
  try {
    return (await fetch("/health", { signal: AbortSignal.timeout(answerMs) })).status < 500;
  } catch {
    return false;
  }
}
