/** Commits what is added up in between. */
export interface EachSecond {
  /** Commits within a second or so. */
  readonly schedule: () => void;
  /** Resolves when all that was added up is committed. */
  readonly flush: () => Promise<void>;
  /** Gives what waits to the last commit. */
  readonly close: () => void;
}

const commitMs = 1_000;

/**
 * Calls `commit` at most once a second. While the store is not available, one commit waits, and what comes is added up
 * behind it.
 */
export function createEachSecond(commit: () => Promise<void>): EachSecond {
  let timer: NodeJS.Timeout | null = null;
  let committing: Promise<void> | null = null;

  const commitNow = (): Promise<void> => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    return commit();
  };
  const flush = async (): Promise<void> => {
    await committing;
    committing ??= commitNow().finally(() => (committing = null));
    return committing;
  };
  return {
    schedule: () => {
      timer ??= setTimeout(() => void flush().catch(() => undefined), commitMs).unref();
    },
    flush,
    close: () => void commitNow().catch(() => undefined),
  };
}
