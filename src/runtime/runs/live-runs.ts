import { Subject } from "rxjs";
import type { RunOwner } from "../../../streams/runs/suspension.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import type { RunSocket } from "../run-api/run-socket.ts";
import { endedRun } from "../wire/protocol.ts";
import { LiveRun, type LiveRunDeps } from "./live-run.ts";

/** The live runs, none at first; each is owned here from its claim or adoption to its end. */
export function createLiveRuns(deps: Omit<LiveRunDeps, "emit" | "onProblem">) {
  const runs = new Map<string, LiveRun>();
  const adoptedSockets = new Map<string, RunSocket>();
  const event$ = new Subject<RunEvent>();
  const problem$ = new Subject<string>();
  let isEmitting = false;
  const emit = (event: RunEvent): void => {
    isEmitting = true;
    event$.next(event);
    isEmitting = false;
  };
  const onProblem = (message: string): void => problem$.next(message);
  const owner: RunOwner = {
    enter: (start) => {
      const { instanceId } = start.request;
      const socket = adoptedSockets.get(instanceId) ?? null;
      adoptedSockets.delete(instanceId);
      const run = new LiveRun(start, socket, { ...deps, emit, onProblem });
      runs.set(instanceId, run);
      return run.clock;
    },
    factsAtEnd: (instanceId) => {
      const run = runs.get(instanceId);
      if (run === undefined) return {};
      const { overBudget, isKeyRefused } = run;
      const [question] = run.questions.values();
      if (question === undefined) return { overBudget, isKeyRefused };
      const unanswered = `ended while its question was open: ${question.prompt}`;
      run.warn(unanswered);
      return { overBudget, isKeyRefused, unanswered };
    },
  };
  return {
    ...owner,
    find: (instanceId: string): LiveRun | undefined => runs.get(instanceId),
    /** Aborts at the end of the run. */
    untilEnd: (instanceId: string): AbortSignal => {
      const ended = new AbortController();
      const abort = (): void => ended.abort();
      const run = runs.get(instanceId);
      if (run === undefined) abort();
      else run.onDispose(abort);
      return ended.signal;
    },
    /** Instance ids of an agent's runs. */
    of: (agent: string): readonly string[] =>
      [...runs.values()].flatMap((run) => (run.agent === agent ? run.instanceId : [])),
    /** The run of a session key; undefined if none is live. */
    ofSession: (agent: string, session: string): LiveRun | undefined =>
      [...runs.values()].find((run) => run.agent === agent && run.request.item.session === session),
    /** Throws a Problem `unauthorized` if the run is not live. */
    get: (instanceId: string): LiveRun => {
      const run = runs.get(instanceId);
      if (run === undefined) throw endedRun("over");
      return run;
    },
    onEvent: (event: RunEvent) => {
      if (event.type !== "status-text" && event.type !== "finished") return;
      const run = runs.get(event.instanceId);
      if (run === undefined) return;
      if (event.type === "finished") {
        runs.delete(event.instanceId);
        run[Symbol.dispose]();
      } else if (!isEmitting) {
        run.statusText = event.text;
      }
    },
    /** Takes over the sockets of runs to adopt, by instance. */
    adoptSockets: (sockets: ReadonlyMap<string, RunSocket>) => {
      for (const [instanceId, socket] of sockets) adoptedSockets.set(instanceId, socket);
    },
    /** After the graph: removes the sockets of runs that did not finish. */
    removeSockets: () => {
      for (const { socket } of runs.values()) socket?.[Symbol.dispose]();
    },
    /** Cancels all timers. */
    stop: () => {
      for (const run of runs.values()) run.stop();
    },
    /** The scheduler's own events about runs: status texts while they are suspended, and warnings. */
    event$: event$.asObservable(),
    /** Warnings for the scheduler's own log. */
    problem$: problem$.asObservable(),
  };
}

export type LiveRuns = ReturnType<typeof createLiveRuns>;

export interface FindRun {
  readonly find: LiveRuns["find"];
}
