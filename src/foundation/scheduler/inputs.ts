import type { OpenCall } from "../contracts/run-state.ts";
import { BehaviorSubject, Subject } from "rxjs";
import type { Withdrawn } from "../../../streams/runs/run-events.ts";
import type { Kill } from "../../../streams/runs/run-agent.ts";
import type { WorkItem } from "../../../streams/vocabulary.ts";
import type { ProjectConfig } from "../config/project-config.ts";

export type Inputs = ReturnType<typeof createInputs>;

/** Inputs of the graph in `streams/runtime.ts`. Only the composition root and its services hold them. */
export function createInputs(project: ProjectConfig, paused: boolean, isWorkHeld = false) {
  return {
    webhook$: new Subject<WorkItem>(),
    call$: new Subject<WorkItem>(),
    manual$: new Subject<WorkItem>(),
    enabled$: new Subject<{ readonly agent: string; readonly enabled: boolean }>(),
    kill$: new Subject<Kill>(),
    withdraw$: new Subject<Withdrawn>(),
    stopping$: new Subject<void>(),
    paused$: new BehaviorSubject(paused),
    /** The place in the store after which work waits; null while new work is not paused. */
    workPausedAfter$: new BehaviorSubject<number | null>(isWorkHeld ? 0 : null),
    /** The active config. */
    project$: new BehaviorSubject(project),
  };
}

/** Dispatches committed work to the input of its trigger. */
export function dispatchTo(inputs: Inputs): (items: readonly WorkItem[]) => void {
  const target = {
    webhook: inputs.webhook$,
    "agent-call": inputs.call$,
    manual: inputs.manual$,
    // The agent's own clock emits ticks; only those of a restart or a rerun are dispatched.
    cron: inputs.manual$,
  };
  return (items) => {
    for (const item of items) target[item.trigger.kind].next(item);
  };
}

/** Ends an abandoned call: its run, or its wait for one. */
export function abandonBy({ kill$, withdraw$ }: Inputs): (call: OpenCall) => void {
  return ({ agent, itemId, instanceId }) => {
    if (instanceId === null) withdraw$.next({ agent, itemId, why: "withdrawn" });
    // Emitted in the next microtask: a run that emits `started` right now does not listen yet.
    else queueMicrotask(() => kill$.next({ instanceId }));
  };
}
