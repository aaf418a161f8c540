import { randomUUID } from "node:crypto";
import { lastValueFrom, NEVER, toArray, type Observable } from "rxjs";
import type { ContainerRunnerOptions } from "../../../../src/runtime/runners/container/container-options.ts";
import { createContainerRunner } from "../../../../src/runtime/runners/container/container-runner.ts";
import type { ContainerRunner } from "../../../../src/runtime/runners/container/container-runner.ts";
import type { Engine } from "../../../../src/runtime/runners/container/engine.ts";
import { instanceLabel } from "../../../../src/runtime/runners/container/labels.ts";
import type { RecordFiles } from "../../../../src/runtime/runners/record-files.ts";
import type { RunnerEvent, StopReason } from "../../../../streams/runs/runner.ts";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import { contractGraceMs } from "../scenarios.ts";
import { anAgent, anItem } from "../../../helpers/agents.ts";
import { testBase } from "../../../helpers/docker.ts";
import { jobOf, scriptOf } from "../shell-runs.ts";

export const aProject = () => `/projects/${randomUUID()}`;

/** The title of the agent is the script, or the scenario whose script it is. */
export function aRequest(title: string, config: Partial<AgentConfig> = {}): RunRequest {
  const instanceId = `dev-${randomUUID().slice(0, 8)}`;
  const runtime = { type: "container", runAs: "al-agent" } as const;
  const agent = anAgent("dev", { title, runtime, ...config });
  return { instanceId, agent, item: anItem("1") };
}

/** Records that go with the test. */
export function memoryRecords(...requests: readonly RunRequest[]): RecordFiles<AgentConfig> {
  const records = new Map(requests.map(({ instanceId, agent }) => [instanceId, agent]));
  return {
    write: (instanceId, agent) => {
      records.set(instanceId, agent);
      return Promise.resolve();
    },
    read: (id) => Promise.resolve(records.get(id) ?? null),
    remove: (id) => {
      records.delete(id);
      return Promise.resolve();
    },
    list: () => Promise.resolve([...records.keys()]),
  };
}

/** A runner whose containers run a shell script in the base image, without network. */
export function aRunner(
  engine: Engine,
  options: Partial<ContainerRunnerOptions> = {},
): ContainerRunner {
  return createContainerRunner({
    engine,
    images: { prepare: () => NEVER, imageFor: () => Promise.resolve(testBase) },
    projectDir: aProject(),
    local: () => ({ memory: "128m", cpus: 1, network: "none" }),
    prepare: (request, workDir) => Promise.resolve(jobOf(request, workDir)),
    redactorFor: () => (text) => text.replaceAll("s3cret", "***"),
    onCooldown: () => undefined,
    records: memoryRecords(),
    graceMs: contractGraceMs,
    command: ({ agent: { title } }) => ({ file: "/bin/sh", args: ["-c", scriptOf(title)] }),
    ...options,
  });
}

export const eventsOf = (
  engine: Engine,
  request: RunRequest,
  options: Partial<ContainerRunnerOptions> = {},
  stop$: Observable<StopReason> = NEVER,
): Promise<RunnerEvent[]> =>
  lastValueFrom(aRunner(engine, options).run(request, stop$).pipe(toArray()));

/** Ids of the containers that carry the label of a run. */
export async function containersOf(engine: Engine, instanceId: string): Promise<string[]> {
  const filters = { label: [`${instanceLabel}=${instanceId}`] };
  const containers = await engine.calls().listContainers({ all: true, filters });
  return containers.map(({ Id }) => Id);
}
