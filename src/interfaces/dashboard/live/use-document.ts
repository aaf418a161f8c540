import { useEffect, useMemo, useState } from "preact/hooks";
import type { StatusUpdate } from "../../../../streams/status/wire.ts";
import type { StaleBy } from "../../../foundation/operation.ts";
import { fetchJson } from "./api.ts";
import type { changedAgents } from "./apply-update.ts";
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

/** A document as the server renders a page with it. */
export interface FirstDocument<T> {
  /** Null if it could not be read, or not soon. */
  readonly value: T | null;
  /** The changes that make it stale, as its operation names them; by default none. */
  readonly changedBy?: readonly StaleBy[] | undefined;
}

/** A document of a page. */
export type ReadDocument<T> = ReturnType<typeof useDocument<T>>;

/** Whether an update that changes these agents makes a document stale. */
export function isStale(
  { changedBy = [], agent }: Pick<DocumentOptions<unknown>, "changedBy" | "agent">,
  { changed = [] }: StatusUpdate,
  agents: ReturnType<typeof changedAgents>,
): boolean {
  const own = agent === undefined ? [...agents.values()] : [agents.get(agent)];
  const isAbout = own.some((one) => one !== undefined);
  return changedBy.some((by) => {
    if (by === "spending") return own.includes(true);
    if (by === "agents") return isAbout;
    return changed.includes(by) && (agent === undefined || isAbout);
  });
}

export interface DocumentOptions<T> extends Partial<FirstDocument<T>> {
  /** Identifies the view that the path is for. When it changes, the document is read at once. */
  readonly view?: string;
  /** The agent that the document is about. */
  readonly agent?: string | undefined;
  /** Whether an update can still change it. */
  readonly isOpen?: (value: T) => boolean;
  /** The pause between two reads after `refresh`, if a read takes the scheduler more than a moment. */
  readonly pauseMs?: number;
  /** True if no message says that a newer version could not be read. */
  readonly isQuiet?: boolean;
}

/**
 * A JSON document of the gateway in a component: first as rendered with it, then read again for another view, after each
 * connect, after the changes that make it stale, or after `refresh`. `path` gives its address at a moment, in epoch ms.
 * Responses for an earlier view are dropped.
 */
export function useDocument<T>(path: (now: number) => string, options: DocumentOptions<T>) {
  const { value = null, changedBy = [], view = "", pauseMs = 1_000, isQuiet = false } = options;
  const [shown, setShown] = useState({ value, view, failure: "", status: 200 });
  const isMissing = shown.value === null || shown.view !== view;
  const latest = useLatest({ path, view, isMissing });
  const load = async (): Promise<void> => {
    const asked = latest.current;
    const fetched = await fetchJson<T>(asked.path(Date.now()));
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
    snapshot: () => changedBy.length > 0 && refresh(),
    update: (update, agents) => {
      const isOver = shown.value !== null && options.isOpen?.(shown.value) === false;
      if (!isOver && isStale(options, update, agents)) refresh();
    },
  });
  useEffect(() => {
    if (isMissing) void load();
  }, [view]);
  return { ...shown, isMissing, refresh };
}
