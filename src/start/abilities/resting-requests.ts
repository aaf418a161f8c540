import type { OpenRequests } from "./open-requests.ts";
import type { Rest, Rests } from "./rests.ts";

/** Requests during which their run may rest: it has its place again before it hears the answer. */
export interface RestingRequests {
  /** The run rests from now on; `text` says what for. */
  rest(id: string, instanceId: string, text: string): void;
  answer(id: string, answer: unknown): void;
  refuse(id: string, error: unknown): void;
  /** Whoever asked waits for it no longer. */
  leave(id: string): void;
  /** The run is over. */
  end(instanceId: string): void;
}

export function createRestingRequests(
  requests: Pick<OpenRequests, "answer" | "refuse">,
  rests: Pick<Rests, "begin">,
): RestingRequests {
  const resting = new Map<string, { readonly instanceId: string; readonly rest: Rest }>();
  const settle = (id: string, then: () => void): void => {
    const entry = resting.get(id);
    resting.delete(id);
    if (entry === undefined) then();
    else entry.rest.finish(then);
  };
  return {
    rest: (id, instanceId, text) => {
      const rest = rests.begin(instanceId, { clockStands: false, text });
      resting.set(id, { instanceId, rest });
    },
    answer: (id, answer) => settle(id, () => requests.answer(id, answer)),
    refuse: (id, error) => settle(id, () => requests.refuse(id, error)),
    // At once: it may be asked again before the run has its place.
    leave: (id) => {
      requests.refuse(id, new Error("nobody waits for it any more"));
      settle(id, () => undefined);
    },
    end: (instanceId) => {
      for (const [id, entry] of resting) if (entry.instanceId === instanceId) resting.delete(id);
    },
  };
}
