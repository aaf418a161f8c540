import { refusal } from "../../contracts/run-api.ts";
import type { RunApiRequest } from "../../contracts/run-api.ts";

export type Asked = Pick<RunApiRequest, "instanceId" | "ability" | "key" | "request" | "signal">;

/** The name of a request among those of all runs: keys are made by runs, which know nothing of each other. */
export function requestId({
  instanceId,
  ability,
  key,
}: Pick<Asked, "instanceId" | "ability" | "key">): string {
  return `${instanceId}/${ability}/${key}`;
}

/** Requests whose answer takes its time. One that is repeated meanwhile gets the answer of the first. */
export interface OpenRequests {
  /**
   * Begins a request unless it is open already. `left` is called when nobody waits for its answer any more. Rejects with
   * a RunApiError `malformed` when the key is that of another request.
   */
  ask(asked: Asked, begin: (id: string) => void, left: (id: string) => void): Promise<unknown>;
  /** A request that is to be repeated: an earlier scheduler took it. */
  expect(instanceId: string, id: string, left: (id: string) => void): void;
  /** Whoever asked says that it waits no longer. */
  leave(id: string): void;
  /** Whether anybody waits for the answer now. */
  isHeard(id: string): boolean;
  answer(id: string, answer: unknown): void;
  refuse(id: string, error: unknown): void;
  /** The run is over. */
  refuseAll(instanceId: string, error: unknown): void;
}

interface Open {
  readonly instanceId: string;
  readonly promise: Promise<unknown>;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly left: () => void;
  /** As JSON; null for one that is to be repeated. */
  readonly request: string | null;
  listeners: number;
}

export function createOpenRequests(): OpenRequests {
  const open = new Map<string, Open>();

  const add = (
    instanceId: string,
    id: string,
    left: (id: string) => void,
    request: string | null,
  ): Open => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    // Whoever asked may be gone.
    promise.catch(() => undefined);
    const settled = { promise, resolve, reject };
    const entry = { ...settled, instanceId, request, left: () => left(id), listeners: 0 };
    open.set(id, entry);
    return entry;
  };
  const listen = (id: string, entry: Open, signal: AbortSignal): void => {
    entry.listeners++;
    const leave = (): void => {
      entry.listeners--;
      if (entry.listeners === 0 && open.get(id) === entry) entry.left();
    };
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  };
  const settle = (id: string, how: (entry: Open) => void): void => {
    const entry = open.get(id);
    open.delete(id);
    if (entry !== undefined) how(entry);
  };

  return {
    ask: (asked, begin, left) => {
      const id = requestId(asked);
      const request = JSON.stringify(asked.request);
      const known = open.get(id);
      if (known !== undefined && (known.request ?? request) !== request) {
        return Promise.reject(refusal("malformed", "This key is that of another request."));
      }
      const entry = known ?? add(asked.instanceId, id, left, request);
      if (known === undefined) begin(id);
      listen(id, entry, asked.signal);
      return entry.promise;
    },
    expect: (instanceId, id, left) => void add(instanceId, id, left, null),
    leave: (id) => open.get(id)?.left(),
    isHeard: (id) => (open.get(id)?.listeners ?? 0) > 0,
    answer: (id, answer) => settle(id, ({ resolve }) => resolve(answer)),
    refuse: (id, error) => settle(id, ({ reject }) => reject(error)),
    refuseAll: (instanceId, error) => {
      for (const [id, entry] of open) {
        if (entry.instanceId === instanceId) settle(id, ({ reject }) => reject(error));
      }
    },
  };
}
