import { asyncScheduler, concatMap, distinctUntilChanged, map, of, switchMap, tap } from "rxjs";
import type { Observable } from "rxjs";
import type { AgentConfig } from "../../streams/agent-config.ts";
import type { BuildEvent, RunRequest } from "../../streams/vocabulary.ts";
import type { ProjectConfig } from "../foundation/config/project-config.ts";
import { messageOf, reasonOf } from "../foundation/errors.ts";
import type { UserError } from "../foundation/errors.ts";
import type { ContainerRunnerOptions } from "../runtime/runners/container/container-runner-options.ts";
import { createContainerRunner } from "../runtime/runners/container/container-runner.ts";
import type { ContainerRunner } from "../runtime/runners/container/container-runner.ts";
import { engineChanges } from "../runtime/runners/container/engine-changes.ts";
import { connectEngine } from "../runtime/runners/container/engine.ts";
import { createAgentImages } from "../runtime/runners/container/images.ts";
import { containerName } from "../runtime/runners/container/labels.ts";
import { remoteEngineProblem } from "../runtime/runners/container/local-engine.ts";
import { pauseContainer, unpauseContainer } from "../runtime/runners/container/pause-container.ts";
import { programDir } from "../foundation/version.ts";
import { keepReady } from "../runtime/runners/container/keep-ready.ts";

type RunSources = Pick<
  ContainerRunnerOptions,
  "prepare" | "redactorFor" | "onCooldown" | "graceMs" | "records" | "controlDir"
>;

export interface ContainerContext {
  readonly projectDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly project$: Observable<ProjectConfig> & { readonly value: ProjectConfig };
}

/** The container runtime of one scheduler. */
export interface Containers {
  readonly runner: Pick<ContainerRunner, "run" | "resume">;
  /** Stops a run that only waits; `thaw` resumes it. */
  freeze(request: RunRequest): Promise<void>;
  thaw(request: RunRequest): Promise<void>;
  /**
   * Keeps the agent's image ready: anew when `[local]` names another one, when it was removed, and when the
   * engine comes back. Before
   * the first is usable, what an earlier scheduler left on the engine is removed. Ends only with its subscriber.
   */
  prepare(config: AgentConfig): Observable<BuildEvent>;
  /** Adopts the runs of an earlier scheduler that still live; removes what is left of others. */
  adopt: ContainerRunner["adopt"];
}

/** Engine, images and runner, by the active `[local]`. */
export function createContainers(context: ContainerContext, sources: RunSources): Containers {
  const { projectDir, env, project$ } = context;
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
  // What ran when the engine went away may be there when it is back, and is tried again only without it.
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
    freeze: ({ instanceId }) => pauseContainer(engine, containerName(projectDir, instanceId)),
    thaw: ({ instanceId }) => unpauseContainer(engine, containerName(projectDir, instanceId)),
    prepare: (config) =>
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
    adopt: async (instanceIds) => {
      const found = await runner.adopt(instanceIds);
      await reaped();
      return found;
    },
  };
}

function unusable(problem: UserError): BuildEvent {
  return { type: "build-finished", error: reasonOf(problem), usable: false };
}
