import type { RunRequest } from "../../../../streams/vocabulary.ts";
import { unlessAborted } from "../as-run.ts";
import type { RunSubscriber } from "../as-run.ts";
import { failedStart, rejectedExit, stoppedBeforeStart } from "../run-exit.ts";
import { runOutput } from "../run-output.ts";
import { containerOptions, limitsOf, workDir } from "./container-options.ts";
import type { ContainerSpec } from "./container-options.ts";
import type { ContainerRunnerOptions } from "./container-runner-options.ts";
import { engineReason } from "./engine.ts";
import type { Engine } from "./engine.ts";
import { followRun } from "./follow-run.ts";
import { declaredVolumes } from "./image/volumes.ts";
import { containerName } from "./labels.ts";
import { removeRun } from "./stop-container.ts";

/** Where a container is, for people. */
const engineDisk = "the container engine";

/** A run from its image and its job to the end of its container. */
export async function newRun(
  request: RunRequest,
  subscriber: RunSubscriber,
  options: ContainerRunnerOptions,
) {
  const { engine, projectDir, records, onCooldown } = options;
  const { emit } = subscriber;
  const over = AbortSignal.any([subscriber.stopping, subscriber.left]);
  const container = containerName(projectDir, request.instanceId);
  let attempted = false;
  let isAsked = false;
  try {
    const made = await unlessAborted(ingredients(request, options), over);
    if (made === null) return emit(stoppedBeforeStart);
    attempted = true;
    await records.write(request);
    await engine.calls().createContainer(made.options);
    if (over.aborted) return emit(stoppedBeforeStart);
    const source = await started(engine, container);
    const begin = async () => (await options.begin?.(request), true);
    if ((await unlessAborted(begin(), over)) === null) return emit(stoppedBeforeStart);
    isAsked = true;
    source.write(`${JSON.stringify(made.job)}\n`);
    const redact = options.redactorFor(made.job);
    const output = runOutput({ request, redact, emit, onCooldown });
    await followRun({ agent: request.agent, container, source, output }, subscriber, options);
  } catch (error) {
    const reason = engineReason(error);
    emit(isAsked ? rejectedExit(reason) : failedStart(error, engineDisk, reason));
  } finally {
    if (attempted) await removeRun(request, options);
  }
}

async function ingredients(request: RunRequest, options: ContainerRunnerOptions) {
  const { engine, images, projectDir, local, prepare, controlDir, command } = options;
  const image = await images.imageFor(request.agent);
  const job = await prepare(request, workDir);
  const spec: ContainerSpec = {
    request,
    projectDir,
    image,
    volumes: await declaredVolumes(engine, image),
    limits: limitsOf(request.agent, local()),
    command: command?.(request) ?? null,
    controlDir: controlDir?.(request) ?? null,
  };
  return { job, options: containerOptions(spec) };
}

/** Attaches first, so that no output is missed; the input stays open as long as the run is followed. */
async function started(engine: Engine, container: string): Promise<NodeJS.ReadWriteStream> {
  const stdio = await engine
    .streams()
    .getContainer(container)
    .attach({ stream: true, stdin: true, stdout: true, stderr: true, hijack: true });
  // `wait` has the end of a run whose connection broke.
  stdio.on("error", () => undefined);
  await engine.calls().getContainer(container).start();
  return stdio;
}
