import { useEffect, useReducer, useRef } from "preact/hooks";

/** A value that components follow. The server renders the first one: only the browser sets another. */
export function createStore<T>(first: T) {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next: T) => {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    listen: (listener: () => void) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

type Store<T> = ReturnType<typeof createStore<T>>;

/** The value of a store, or a selected part of it; the component is rendered again when that changes. */
export function useStore<T, Selected = T>(
  store: Store<T>,
  select: (value: T) => Selected = (value) => value as never,
): Selected {
  const redraw = useRedraw();
  const value = select(store.get());
  const latest = useLatest({ value, select });
  useEffect(() => {
    const follow = (): void => {
      const { current } = latest;
      if (!Object.is(current.select(store.get()), current.value)) redraw();
    };
    follow();
    return store.listen(follow);
  }, [store]);
  return value;
}

/** Renders the component again. */
export function useRedraw(): () => void {
  const [, redraw] = useReducer<number, undefined>((count) => count + 1, 0);
  return () => redraw(undefined);
}

/** The latest value that a component was rendered with, for callbacks that outlive a rendering. */
export function useLatest<T>(value: T): { readonly current: T } {
  const latest = useRef(value);
  latest.current = value;
  return latest;
}

/** A choice that this browser remembers; null if it is not made yet, or if the browser refuses storage. */
export function remembered(name: string): string | null {
  try {
    return localStorage.getItem(`almanac-${name}`);
  } catch {
    return null;
  }
}

/** Remembers a reader's choice in this browser, if it has storage. */
export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(`almanac-${name}`, value);
  } catch {
    // The choice holds for this page only.
  }
}
