import { useEffect, useReducer, useRef } from "preact/hooks";

/** A value that components follow. The server renders with the first one: only the browser sets another. */
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

export type Store<T> = ReturnType<typeof createStore<T>>;

/** The value of a store; the component is rendered again when it changes. */
export function useStore<T>(store: Store<T>): T {
  const redraw = useRedraw();
  const value = store.get();
  useEffect(() => {
    if (!Object.is(store.get(), value)) redraw();
    return store.listen(redraw);
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
