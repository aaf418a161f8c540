import type { KubernetesListObject, KubernetesObject } from "@kubernetes/client-node";

export type Phase = "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";

/** Where the objects of one kind come from. */
export interface ObjectSource<T extends KubernetesObject> {
  list(): Promise<KubernetesListObject<T>>;
  /**
   * Follows changes after `resourceVersion`. Resolves once the server has answered, to what ends it; `done` is called
   * once, with null when the server ended it as it does from time to time.
   */
  watch(
    resourceVersion: string,
    onEvent: (phase: Phase, object: T) => void,
    done: (error: unknown) => void,
  ): Promise<{ abort(): void }>;
  /** Before any other is called for this change. `after` is undefined for an object that is gone. */
  onChange?(before: T | undefined, after: T | undefined): void;
}

/** The objects of one kind as the server has them, by name. */
export interface ObjectCache<T> {
  /** Rejects with the error of the request while the server is away. */
  current(): Promise<ReadonlyMap<string, T>>;
  /** An object that the server has just made: its event may come later than the next question. */
  put(object: T): void;
  stop(): void;
}

export interface ObjectCacheOptions {
  /** Without a question for so long, in ms, the watch is not renewed. */
  readonly idleMs?: number;
}

/** A watch that ends sooner than this, in ms, is not simply renewed: that would be a loop without a pause. */
const shortestWatchMs = 1_000;

interface Session<T> {
  readonly objects: Map<string, T>;
  version: string;
  connected: Promise<unknown>;
  isOver: boolean;
  abort(): void;
}

/**
 * Lists once and watches from there. A watch that the server ends is renewed from the last version, which bookmarks keep
 * young; one that fails or has missed changes (410) is over, and the next question lists again. So nothing is asked of a
 * server that is away but by those who want to know.
 */
export function createObjectCache<T extends KubernetesObject>(
  source: ObjectSource<T>,
  { idleMs = 120_000 }: ObjectCacheOptions = {},
): ObjectCache<T> {
  let session: Session<T> | null = null;
  let opening: Promise<Session<T>> | null = null;
  let askedAt = 0;

  function change(objects: Map<string, T>, name: string, after: T | undefined): void {
    source.onChange?.(objects.get(name), after);
    if (after === undefined) objects.delete(name);
    else objects.set(name, after);
  }

  async function open(): Promise<Session<T>> {
    const { items, metadata } = await source.list();
    const before = session?.objects ?? new Map<string, T>();
    const objects = new Map(before);
    const listed = new Map(items.map((item) => [nameOf(item), item]));
    for (const name of before.keys()) if (!listed.has(name)) change(objects, name, undefined);
    for (const [name, item] of listed) change(objects, name, item);
    const opened: Session<T> = {
      objects,
      version: metadata?.resourceVersion ?? "",
      connected: Promise.resolve(),
      isOver: false,
      abort: () => undefined,
    };
    follow(opened);
    return opened;
  }

  function follow(watched: Session<T>): void {
    const begunAt = performance.now();
    let hasAnswered = false;
    let isGone = false;
    const onEvent = (phase: Phase, object: T) => {
      isGone ||= phase === "ERROR";
      if (isGone || watched.isOver) return;
      watched.version = object.metadata?.resourceVersion ?? watched.version;
      if (phase === "BOOKMARK") return;
      change(watched.objects, nameOf(object), phase === "DELETED" ? undefined : object);
    };
    const done = (error: unknown) => {
      const isRenewable = (error === null || error === undefined || isQuiet(error)) && hasAnswered;
      const isShort = performance.now() - begunAt < shortestWatchMs;
      const isIdle = performance.now() - askedAt > idleMs;
      if (isRenewable && !isGone && !isShort && !isIdle && !watched.isOver) follow(watched);
      else watched.isOver = true;
    };
    watched.connected = source.watch(watched.version, onEvent, done).then(
      (watch) => {
        hasAnswered = true;
        watched.abort = () => watch.abort();
        if (watched.isOver) watch.abort();
      },
      () => {
        watched.isOver = true;
      },
    );
  }

  return {
    current: async () => {
      askedAt = performance.now();
      await session?.connected;
      if (session === null || session.isOver) {
        opening ??= open().finally(() => (opening = null));
        session = await opening;
      }
      return session.objects;
    },
    put: (object) => {
      const name = nameOf(object);
      const add = () => {
        if (session?.objects.has(name) === false) change(session.objects, name, object);
      };
      // A list that is on its way may have been made before the object.
      void (opening ?? Promise.resolve()).then(() => queueMicrotask(add), add);
    },
    stop: () => {
      if (session === null) return;
      session.isOver = true;
      session.abort();
    },
  };
}

/** The client ends a watch by which nothing came for half a minute: its connection may be dead. */
function isQuiet(error: unknown): boolean {
  return error instanceof DOMException && error.name === "TimeoutError";
}

function nameOf({ metadata }: KubernetesObject): string {
  return metadata?.name ?? "";
}
