import type { OpenCall } from "../../foundation/contracts/run-state.ts";
import { BehaviorSubject, Subject } from "rxjs";
import type { Withdrawn } from "../../../streams/runs/run-events.ts";
import type { Kill } from "../../../streams/runs/run-agent.ts";
import type { WorkItem } from "../../../streams/vocabulary.ts";
import type { ProjectConfig } from "../../foundation/config/project-config.ts";

/** Where the edges emit what comes from outside. Only the composition root and what it wires hold these. */
export interface Inputs {
  readonly webhook$: Subject<WorkItem>;
  readonly call$: Subject<WorkItem>;
  readonly manual$: Subject<WorkItem>;
  readonly enabled$: Subject<{ readonly agent: string; readonly enabled: boolean }>;
  readonly kill$: Subject<Kill>;
  readonly withdraw$: Subject<Withdrawn>;
  readonly stopping$: Subject<void>;
  readonly paused$: BehaviorSubject<boolean>;
  /** The active config. */
  readonly project$: BehaviorSubject<ProjectConfig>;
}

/** The inputs of one scheduler, at their first values. */
export function createInputs(project: ProjectConfig, paused: boolean): Inputs {
  return {
    webhook$: new Subject(),
    call$: new Subject(),
    manual$: new Subject(),
    enabled$: new Subject(),
    kill$: new Subject(),
    withdraw$: new Subject(),
    stopping$: new Subject(),
    paused$: new BehaviorSubject(paused),
    project$: new BehaviorSubject(project),
  };
}

/** Hands on committed work by what asked for it. */
export function dispatchTo(inputs: Inputs): (items: readonly WorkItem[]) => void {
  const target = {
    webhook: inputs.webhook$,
    "agent-call": inputs.call$,
    manual: inputs.manual$,
    // A tick comes from the agent's own clock; here only one comes by that a restart left, or that is run again.
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
    // Later: a run that emits `started` right now does not listen yet.
    else queueMicrotask(() => kill$.next({ instanceId }));
  };
}
