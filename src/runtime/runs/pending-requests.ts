import { refusal, type RequestKey, type RunApiRequest } from "../wire/protocol.ts";

/** The unique id of a request: runs choose keys, which may be equal in several runs. */
export function requestId(request: RequestKey): string {
  return `${request.instanceId}/${request.ability}/${request.key}`;
}

/** How long a wait stays open for a run that hung up, in ms: its connection may have broken, and it repeats the request. */
export const hungUpMs = 15_000;
/** How long a run of an earlier scheduler has to repeat its request, in ms. */
const adoptedMs = 60_000;

/** Suspends the run; returns how to resume it: `ready` is called once the run has a slot again, if it still lives. */
export type Suspend = (how: SuspendOptions) => (ready: () => void) => void;

export interface SuspendOptions {
  /** Whether the run's clock is paused while it makes no other request. */
  readonly pausesClock: boolean;
  /** Status text about the wait. */
  readonly text: string;
}

/** A request of a run whose answer takes time. */
export interface PendingRequest<T> {
  readonly id: string;
  /** The run waits for the answer instead of working; it has a slot again before it gets the answer. */
  suspend(how: SuspendOptions): void;
  answer(answer: T): void;
  refuse(error: unknown): void;
  /** Rejects it at once, so that it can be repeated before the run has a slot. */
  abandon(): void;
}

/** Begins a request; the returned function cancels it. */
export type Begin<T> = (pending: PendingRequest<T>) => () => void;

/** One connection that waits for a request. */
interface Joined {
  readonly id: string;
  /** As JSON; null if the id says all. */
  readonly body: string | null;
  readonly signal: AbortSignal;
}

interface Entry<T> {
  readonly pending: PendingRequest<T>;
  readonly promise: Promise<T>;
  /** As JSON; null for a request that the run must repeat. */
  readonly body: string | null;
  readonly reject: (error: unknown) => void;
  callers: number;
  pausesClock: boolean;
  cancel: () => void;
  /** Stops the timer of a request whose run hung up. */
  stopGrace: () => void;
}

/**
 * `wakeIn` calls back after some ms, unless the returned function was called before; `onChange` is called after each change
 * of `pausing`.
 */
export function createPendingRequests(
  suspend: Suspend,
  wakeIn: (ms: number, action: () => void) => () => void,
  onChange: () => void,
) {
  const entries = new Map<string, Entry<unknown>>();

  const start = <T>(id: string, body: string | null, begin: Begin<T>): Entry<T> => {
    const entry = newEntry<T>(id, body, { suspend, remove, onChange });
    entries.set(id, entry);
    entry.cancel = begin(entry.pending);
    return entry;
  };
  const isOpen = (entry: Entry<unknown>): boolean => entries.get(entry.pending.id) === entry;
  const remove = (entry: Entry<unknown>): void => {
    entry.stopGrace();
    if (isOpen(entry)) entries.delete(entry.pending.id);
    onChange();
  };
  /** Cancels a request if no connection waits for it by then. */
  const cancelIn = (entry: Entry<unknown>, graceMs: number): void => {
    if (!isOpen(entry)) return;
    if (graceMs === 0) return entry.cancel();
    entry.stopGrace();
    entry.stopGrace = wakeIn(graceMs, () => {
      if (entry.callers === 0 && isOpen(entry)) entry.cancel();
    });
  };
  const listen = (entry: Entry<unknown>, signal: AbortSignal, graceMs: number): void => {
    entry.callers++;
    onChange();
    const hangUp = (): void => {
      entry.callers--;
      onChange();
      if (entry.callers === 0) cancelIn(entry, graceMs);
    };
    if (signal.aborted) hangUp();
    else signal.addEventListener("abort", hangUp, { once: true });
  };

  /**
   * Begins a request unless it is already pending; it is cancelled `graceMs` after the last connection that waits for
   * the answer closed. Rejects with a Problem `malformed` if the id is that of another request.
   */
  const join = <T>({ id, body, signal }: Joined, begin: Begin<T>, graceMs = 0): Promise<T> => {
    const known = entries.get(id);
    if (known !== undefined && (known.body ?? body) !== body) {
      return Promise.reject(refusal("malformed", "Another request has this key already."));
    }
    // The id names the kind of request, and so the kind of its answer.
    const entry = (known as Entry<T> | undefined) ?? start(id, body, begin);
    listen(entry, signal, graceMs);
    return entry.promise;
  };

  return {
    join,
    /** Joins the request of a run by its key. */
    ask: <T>(request: RunApiRequest, begin: Begin<T>, graceMs = 0): Promise<T> => {
      const { request: body, signal } = request;
      return join({ id: requestId(request), body: JSON.stringify(body), signal }, begin, graceMs);
    },
    /** Begins a request that an adopted run must repeat. */
    expect: <T>(id: string, begin: Begin<T>) => cancelIn(start(id, null, begin), adoptedMs),
    /** The run cancels the request. */
    cancel: (id: string) => entries.get(id)?.cancel(),
    /** The run has ended: at once, as it needs no slot any more. */
    refuseAll: (error: unknown) => {
      for (const entry of [...entries.values()]) {
        remove(entry);
        entry.reject(error);
      }
    },
    /** For each wait that pauses the clock, how many connections wait for it: 0 for one that the run must repeat. */
    pausing: (): readonly number[] =>
      [...entries.values()].flatMap(({ pausesClock, callers }) => (pausesClock ? [callers] : [])),
    /** Stops its timers. */
    stop: () => {
      for (const { stopGrace } of entries.values()) stopGrace();
    },
  };
}

/** The requests that a run waits for. A repeated one gets the answer of the first. */
export type PendingRequests = ReturnType<typeof createPendingRequests>;

interface EntryDeps {
  readonly suspend: Suspend;
  readonly remove: (entry: Entry<unknown>) => void;
  readonly onChange: () => void;
}

/** A request without callers; `remove` is called once it is answered or rejected. */
function newEntry<T>(
  id: string,
  body: string | null,
  { suspend, remove, onChange }: EntryDeps,
): Entry<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  // All its connections may be closed.
  promise.catch(() => undefined);
  let resume: ((ready: () => void) => void) | null = null;
  const settle = (how: () => void): void => {
    const done = (): void => {
      remove(entry);
      how();
    };
    const resumeRun = resume;
    resume = null;
    if (resumeRun === null) done();
    else resumeRun(done);
  };
  const pending: PendingRequest<T> = {
    id,
    suspend: (how) => {
      resume = suspend(how);
      entry.pausesClock = how.pausesClock;
      onChange();
    },
    answer: (answer) => settle(() => resolve(answer)),
    refuse: (error) => settle(() => reject(error)),
    abandon: () => {
      remove(entry);
      reject(new Error("the run no longer waits for it"));
      settle(() => undefined);
    },
  };
  const entry: Entry<T> = {
    pending,
    promise,
    reject,
    body,
    callers: 0,
    pausesClock: false,
    cancel: () => undefined,
    stopGrace: () => undefined,
  };
  return entry;
}
