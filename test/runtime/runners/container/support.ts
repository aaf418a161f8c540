import { randomUUID } from "node:crypto";
import { NEVER } from "rxjs";
import type { ContainerRunnerOptions } from "../../../../src/runtime/runners/container/container-options.ts";
import { createContainerRunner } from "../../../../src/runtime/runners/container/container-runner.ts";
import type { Engine } from "../../../../src/runtime/runners/container/engine.ts";
import { instanceLabel } from "../../../../src/runtime/runners/container/labels.ts";
import type { RecordFiles } from "../../../../src/runtime/runners/record-files.ts";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import { collected } from "../contract.ts";
import { contractGraceMs, jobOf, scriptOf } from "../shell-runs.ts";
import { testBase } from "../../../helpers/docker.ts";

export const aProject = () => `/projects/${randomUUID()}`;

/** Records that go with the test. */
export function memoryRecords(...requests: readonly RunRequest[]): RecordFiles<AgentConfig> {
  const records = new Map(requests.map(({ instanceId, agent }) => [instanceId, agent]));
  return {
    write: (id, agent) => Promise.resolve(void records.set(id, agent)),
    read: (id) => Promise.resolve(records.get(id) ?? null),
    remove: (id) => Promise.resolve(void records.delete(id)),
    list: () => Promise.resolve([...records.keys()]),
  };
}

export const usualOptions = (engine: Engine) => ({
  engine,
  images: { prepare: () => NEVER, imageFor: () => Promise.resolve(testBase) },
  projectDir: aProject(),
  local: () => ({ memory: "128m", cpus: 1, network: "none" }),
  prepare: (request: RunRequest, workDir: string) => Promise.resolve(jobOf(request, workDir)),
  redactorFor: () => (text: string) => text.replaceAll("s3cret", "***"),
  onCooldown: () => undefined,
  records: memoryRecords(),
  graceMs: contractGraceMs,
});

/** A runner whose containers run a shell script in the base image, without network. */
export const aRunner = (engine: Engine, options: Partial<ContainerRunnerOptions> = {}) =>
  createContainerRunner({
    ...usualOptions(engine),
    command: ({ agent: { title } }) => ({ file: "/bin/sh", args: ["-c", scriptOf(title)] }),
    ...options,
  });

export const eventsOf = (
  engine: Engine,
  request: RunRequest,
  options: Partial<ContainerRunnerOptions> = {},
) => collected(aRunner(engine, options).run(request, NEVER));

/** Ids of the containers that carry the label of a run. */
export async function containersOf(engine: Engine, instanceId: string): Promise<string[]> {
  const filters = { label: [`${instanceLabel}=${instanceId}`] };
  const containers = await engine.calls().listContainers({ all: true, filters });
  return containers.map(({ Id }) => Id);
}
