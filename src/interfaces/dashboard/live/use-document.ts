import { useEffect, useMemo, useState } from "preact/hooks";
import type { StatusList, StatusUpdate } from "../../../../streams/status/wire.ts";
import { fetchJson } from "./api.ts";
import { useStatus } from "./status.ts";
import { useLatest } from "./store.ts";
import { showToast } from "./toasts.ts";

/** Changes gather this long before a document is read again: the scheduler writes them a moment after it emits them. */
const gatherMs = 400;

/** Turns many calls into few reads: one after the first call, and the next no sooner than after a pause. */
export function paced(read: () => Promise<void>, pauseMs: number): () => void {
  let isWanted = false;
  let isBusy = false;
  let isFirst = true;
  const start = (delay: number): void => {
    isBusy = true;
    isWanted = false;
    const finish = (): void => {
      isBusy = false;
      if (isWanted) start(gatherMs);
    };
    setTimeout(() => void read().finally(() => setTimeout(finish, pauseMs)), delay);
  };
  return () => {
    isWanted = true;
    if (!isBusy) start(isFirst ? 0 : gatherMs);
    isFirst = false;
  };
}

/** Whether an update changes one of these lists. */
export const changes =
  (...lists: readonly StatusList[]) =>
  ({ changed = [] }: StatusUpdate): boolean =>
    changed.some((list) => lists.includes(list));

interface DocumentOptions<T> {
  /** The document that the page was rendered with. */
  readonly first: T | null;
  /** Identifies the view that the path is for. When it changes, the document is read at once. */
  readonly view?: string;
  /** Which status updates change the document. After each of them, and after each connect, it is read again. */
  readonly on?: ((update: StatusUpdate) => boolean) | false;
  /** The pause between two reads after `refresh`, if a read takes the scheduler more than a moment. */
  readonly pauseMs?: number;
  /** True if no message says that a newer version could not be read. */
  readonly isQuiet?: boolean;
}

/**
 * A JSON document of the gateway in a component: first as rendered with it, then read again for another view or after
 * `refresh`. Responses for an earlier view are dropped.
 */
export function useDocument<T>(path: () => string, options: DocumentOptions<T>) {
  const { first, view = "", pauseMs = 1_000, on = false, isQuiet = false } = options;
  const [shown, setShown] = useState({ value: first, view, failure: "", status: 200 });
  const isMissing = shown.value === null || shown.view !== view;
  const latest = useLatest({ path, view, isMissing });
  const load = async (): Promise<void> => {
    const asked = latest.current;
    const fetched = await fetchJson<T>(asked.path());
    if (latest.current.view !== asked.view) return;
    if (fetched.ok) {
      setShown({ value: fetched.value, view: asked.view, failure: "", status: 200 });
      return;
    }
    const { detail, status } = fetched;
    setShown((last) => ({ ...last, failure: detail, status }));
    if (!isQuiet && !asked.isMissing) showToast(detail);
  };
  const reread = async (): Promise<void> => {
    // A hidden tab is connected again when it is seen.
    if (latest.current.isMissing || document.visibilityState !== "hidden") await load();
  };
  const refresh = useMemo(() => paced(reread, pauseMs), []);
  useStatus({
    snapshot: () => on && refresh(),
    update: (update) => on && on(update) && refresh(),
  });
  useEffect(() => {
    if (isMissing) void load();
  }, [view]);
  return { ...shown, isMissing, refresh };
}
