import { Subject } from "rxjs";
import type { Observable } from "rxjs";
import type { Resting } from "../../../streams/runs/resting.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";

/** A run's rest: what it is told while it waits. */
export interface Rest {
  /** `ready` is called once the run may go on; never when it ended before. */
  finish(ready: () => void): void;
}

/** Lets runs wait, and says so. */
export interface Rests {
  begin(instanceId: string, how: { readonly clockStands: boolean; readonly text: string }): Rest;
  /** What runs say of themselves comes back when they go on. */
  see(event: RunEvent): void;
  /** Status texts of runs that wait. */
  readonly event$: Observable<RunEvent>;
}

/** `now` gives epoch ms. */
export function createRests(resting: Resting, now: () => number): Rests {
  const event$ = new Subject<RunEvent>();
  const texts = new Map<string, string>();
  const own = new WeakSet<RunEvent>();
  const say = (instanceId: string, text: string): void => {
    const agent = resting.of(instanceId)?.item.agent;
    if (agent === undefined) return;
    const event: RunEvent = { type: "status-text", agent, at: now(), instanceId, text };
    own.add(event);
    event$.next(event);
  };
  return {
    begin: (instanceId, { clockStands, text }) => {
      const goOn = resting.rest(instanceId, clockStands);
      say(instanceId, text);
      return {
        finish: (ready) =>
          goOn(() => {
            say(instanceId, texts.get(instanceId) ?? "");
            ready();
          }),
      };
    },
    see: (event) => {
      if (event.type === "status-text" && !own.has(event)) texts.set(event.instanceId, event.text);
      if (event.type === "finished") texts.delete(event.instanceId);
    },
    event$,
  };
}
