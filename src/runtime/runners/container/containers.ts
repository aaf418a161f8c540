import { asyncScheduler, concatMap, distinctUntilChanged, map, of, switchMap, tap } from "rxjs";
import type { Observable } from "rxjs";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import type { BuildEvent, RunRequest } from "../../../../streams/vocabulary.ts";
import type { SchedulerContext } from "../../../foundation/context.ts";
import type { ProjectConfig } from "../../../foundation/config/project-config.ts";
import { messageOf, reasonOf, type Problem } from "../../../foundation/errors.ts";
import type { ContainerRunnerOptions } from "./container-options.ts";
import { createContainerRunner } from "./container-runner.ts";
import { engineChanges } from "./engine-changes.ts";
import { connectEngine, remoteEngineProblem } from "./engine.ts";
import { createAgentImages } from "./images.ts";
import { containerName } from "./labels.ts";
import { pauseContainer, unpauseContainer } from "./stop-container.ts";
import { programDir } from "../../../foundation/version.ts";
import { keepReady } from "./keep-ready.ts";

type RunSources = Pick<
  ContainerRunnerOptions,
  "prepare" | "redactorFor" | "onCooldown" | "graceMs" | "records" | "controlDir"
>;

export type Containers = ReturnType<typeof createContainers>;

/** The container runtime of one scheduler: engine, images and runner, by the active `[local]`. */
export function createContainers(
  { projectDir, env, project$ }: SchedulerContext,
  sources: RunSources,
) {
  const engine = connectEngine({ env });
  const local = (): ProjectConfig["local"] => project$.value.local;
  const images = createAgentImages({ engine, projectDir, programDir: programDir(), local });
  const runner = createContainerRunner({ ...sources, engine, images, projectDir, local });

  let reaping: Promise<void> | null = null;
  const reaped = (): Promise<void> =>
    (reaping ??= runner.reap().catch((error: unknown) => {
      reaping = null;
      process.emitWarning(`containers of earlier runs may be left: ${messageOf(error)}`);
    }));
  // Containers from before an outage may still run when the engine returns: reaping removes them before a retry.
  const change$ = engineChanges(engine).pipe(
    tap((change) => {
      if (change === "gone") reaping = null;
    }),
  );
  const usable = async (event: BuildEvent): Promise<BuildEvent> => {
    if (event.type === "build-finished" && event.usable) await reaped();
    return event;
  };
  return {
    runner,
    /** Stops a run that only waits; `thaw` resumes it. */
    freeze: ({ instanceId }: RunRequest) =>
      pauseContainer(engine, containerName(projectDir, instanceId)),
    thaw: ({ instanceId }: RunRequest) =>
      unpauseContainer(engine, containerName(projectDir, instanceId)),
    /**
     * Keeps the agent's image ready: also after `[local]` names another one, after it was removed, and when the engine
     * returns. Removes leftovers of earlier schedulers before the first image is usable. Ends only with its subscriber.
     */
    prepare: (config: AgentConfig): Observable<BuildEvent> =>
      project$.pipe(
        map(({ local: { image, base }, cluster }) => JSON.stringify([image, base, !cluster])),
        distinctUntilChanged(),
        switchMap(() => {
          const problem = remoteEngineProblem(env, project$.value.cluster !== null);
          if (problem !== null) return of(unusable(problem));
          const image$ = () => images.prepare(config).pipe(concatMap(usable));
          return keepReady(image$, change$, asyncScheduler);
        }),
      ),
    /** Adopts the runs of an earlier scheduler that still live; removes leftovers of others. */
    adopt: async (instanceIds: readonly string[]) => {
      const found = await runner.adopt(instanceIds);
      await reaped();
      return found;
    },
  };
}

function unusable(problem: Problem): BuildEvent {
  return { type: "build-finished", error: reasonOf(problem), usable: false };
}
