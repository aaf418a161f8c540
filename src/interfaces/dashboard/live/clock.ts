import { useEffect, useState } from "preact/hooks";
import { connection } from "./status.ts";
import { useLatest, useRedraw } from "./store.ts";

const listeners = new Set<(now: number) => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Calls back each second while the page is seen and connected. */
function onTick(listener: (now: number) => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    if (document.visibilityState === "hidden" || connection.get().lostAt !== null) return;
    const now = Date.now();
    for (const each of listeners) each(now);
  }, 1000);
  return () => {
    listeners.delete(listener);
  };
}

/** A value that depends on the time; the component is rendered again only in a second in which it changes. */
export function useTicking<T extends string | number | boolean | null>(
  valueAt: (now: number) => T,
): T {
  const redraw = useRedraw();
  const value = valueAt(Date.now());
  const latest = useLatest({ value, valueAt });
  useEffect(
    () =>
      onTick((now) => {
        if (latest.current.valueAt(now) !== latest.current.value) redraw();
      }),
    [],
  );
  return value;
}

let isHydrated = false;

/** To be called when the page has been hydrated. */
export function markHydrated(): void {
  isHydrated = true;
}

/**
 * Whether attributes may depend on the browser: its time zone, its language, its storage. The first rendering must have
 * the server's attributes, which hydration does not change.
 */
export function useIsLocal(): boolean {
  const [isLocal, setLocal] = useState(isHydrated);
  useEffect(() => setLocal(true), []);
  return isLocal;
}
