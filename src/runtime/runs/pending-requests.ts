import { refusal } from "../../foundation/contracts/run-api.ts";
import type { RunApiRequest } from "../../foundation/contracts/run-api.ts";

/** The name of a request among those of all runs: keys are made by runs, which know nothing of each other. */
export function requestId(request: Pick<RunApiRequest, "instanceId" | "ability" | "key">): string {
  return `${request.instanceId}/${request.ability}/${request.key}`;
}

/** How long a request is open for a run that hung up, in ms: its connection may have broken, and it asks again. */
export const hungUpMs = 15_000;
/** The same for a run of an earlier scheduler, in ms. */
export const adoptedMs = 60_000;

/** Suspends the run; returns how to resume it: `ready` is called once the run has a slot again, if it still lives. */
export type Suspend = (how: SuspendOptions) => (ready: () => void) => void;

export interface SuspendOptions {
  readonly pausesClock: boolean;
  /** What the run waits for, for people. */
  readonly text: string;
}

/** A request of a run whose answer takes its time. */
export interface PendingRequest<T> {
  readonly id: string;
  /** The run waits for the answer instead of working; it has a slot again before it gets the answer. */
  suspend(how: SuspendOptions): void;
  answer(answer: T): void;
  refuse(error: unknown): void;
  /** Refuses it at once, so that it can be asked again before the run has a slot. */
  abandon(): void;
  /** Whether a connection waits for the answer now. */
  hasCaller(): boolean;
}

/** The requests of one name that a run waits for. One that is repeated meanwhile gets the answer of the first. */
export interface PendingRequests<T> {
  /**
   * Begins a request unless it is pending already. Rejects with a RunApiError `malformed` when the key is that of
   * another request.
   */
  ask(request: RunApiRequest, begin: Begin<T>): Promise<T>;
  /** Begins a request that an adopted run is to repeat. */
  expect(id: string, begin: Begin<T>): void;
  /** The run cancels the request. */
  cancel(id: string): void;
  /** The run is over: at once, as it needs no slot any more. */
  refuseAll(error: unknown): void;
}

/** Begins a request; what it returns is called when the last connection that waits for the answer closes. */
export type Begin<T> = (pending: PendingRequest<T>) => () => void;

interface Entry<T> {
  readonly pending: PendingRequest<T>;
  readonly promise: Promise<T>;
  /** As JSON; null for one that is to be repeated. */
  readonly body: string | null;
  readonly reject: (error: unknown) => void;
  callers: number;
  onHangUp: () => void;
}

export function createPendingRequests<T>(suspend: Suspend): PendingRequests<T> {
  const entries = new Map<string, Entry<T>>();

  const newEntry = (id: string, body: string | null, begin: Begin<T>): Entry<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    // All its connections may be closed.
    promise.catch(() => undefined);
    let resume: ((ready: () => void) => void) | null = null;
    const settle = (how: () => void): void => {
      const done = (): void => {
        if (entries.get(id) === entry) entries.delete(id);
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
      },
      answer: (answer) => settle(() => resolve(answer)),
      refuse: (error) => settle(() => reject(error)),
      abandon: () => {
        if (entries.get(id) === entry) entries.delete(id);
        reject(new Error("the run no longer waits for it"));
        settle(() => undefined);
      },
      hasCaller: () => entry.callers > 0,
    };
    const entry: Entry<T> = {
      pending,
      promise,
      reject,
      body,
      callers: 0,
      onHangUp: () => undefined,
    };
    entries.set(id, entry);
    entry.onHangUp = begin(pending);
    return entry;
  };
  const listen = (entry: Entry<T>, signal: AbortSignal): void => {
    entry.callers++;
    const hangUp = (): void => {
      entry.callers--;
      if (entry.callers === 0 && entries.get(entry.pending.id) === entry) entry.onHangUp();
    };
    if (signal.aborted) hangUp();
    else signal.addEventListener("abort", hangUp, { once: true });
  };

  return {
    ask: (request, begin) => {
      const id = requestId(request);
      const body = JSON.stringify(request.request);
      const known = entries.get(id);
      if (known !== undefined && (known.body ?? body) !== body) {
        return Promise.reject(refusal("malformed", "This key is that of another request."));
      }
      const entry = known ?? newEntry(id, body, begin);
      listen(entry, request.signal);
      return entry.promise;
    },
    expect: (id, begin) => void newEntry(id, null, begin),
    cancel: (id) => entries.get(id)?.onHangUp(),
    refuseAll: (error) => {
      for (const { reject } of entries.values()) reject(error);
      entries.clear();
    },
  };
}
