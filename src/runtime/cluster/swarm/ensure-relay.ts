import { setTimeout as wait } from "node:timers/promises";
import type { ServiceSpec } from "dockerode";
import { UserError } from "../../../foundation/errors.ts";
import type { Engine } from "../../runners/container/engine.ts";
import { unlessRefused, type DockerOptions } from "../docker/ask-engine.ts";
import {
  closedNetwork,
  ensureNetwork,
  ifThere,
  relay,
  relayLabels,
  relayName,
  relayProgram,
  smallLog,
} from "../docker/relay.ts";
import { isTaskOver, type SwarmTask } from "./swarm-tasks.ts";

/** How long a relay may take to start, in ms: its image may have to be pulled. */
const startTimeoutMs = 60_000;
const pauseMs = 250;
/** If the machine of one relay goes away, runs connect through the other. */
const replicas = 2;
const retryPauseNs = 1_000_000_000;

/** Creates both networks, and creates or updates the relay's service; resolves when one of its tasks runs. */
export async function ensureRelay(options: DockerOptions): Promise<void> {
  const { engine, project, config, programImage, loginFor } = options;
  const image = await programImage();
  const IPAM = { Config: [{ Subnet: config.subnet }] };
  const closed = { Name: closedNetwork(project), Driver: "overlay", Internal: true, IPAM };
  await ensureNetwork(engine, project, closed);
  await ensureNetwork(engine, project, { Name: outsideNetwork(project), Driver: "overlay" });
  await createOrUpdate(engine, relayService(options, image), (await loginFor(image)) ?? {});
  const deadline = performance.now() + startTimeoutMs;
  for (;;) {
    const tasks = await tasksOf(engine, relayName(project));
    if (tasks.some(({ Status }) => Status.State === "running")) return;
    if (performance.now() > deadline) throw notStarted(relayName(project), tasks);
    await wait(pauseMs);
  }
}

interface InspectedService {
  readonly Version: { readonly Index: number };
  readonly Spec: ServiceSpec;
}

async function createOrUpdate(engine: Engine, spec: ServiceSpec, authconfig: object) {
  const service = engine.calls().getService(spec.Name ?? "");
  const there = (await ifThere(service.inspect())) as InspectedService | null;
  if (there === null) {
    // A relay of that name may have been created meanwhile by another scheduler of the project.
    return unlessRefused([409], engine.calls().createService(authconfig, spec));
  }
  if (there.Spec.Labels?.[relay.label] === spec.Labels?.[relay.label]) return;
  // By default the client writes the whole object into the address, too.
  const update = { _query: { version: there.Version.Index }, _body: spec };
  await service.update({ ...update, authconfig });
}

async function tasksOf(engine: Engine, service: string): Promise<readonly SwarmTask[]> {
  return (await engine.calls().listTasks({ filters: { service: [service] } })) as SwarmTask[];
}

function notStarted(name: string, tasks: readonly SwarmTask[]): UserError {
  const failed = tasks.find(({ Status }) => isTaskOver(Status.State) && Status.Err !== undefined);
  const waiting = tasks.find(({ Status }) => Status.Err !== undefined);
  const reason = (failed ?? waiting)?.Status.Err ?? "none of its tasks runs";
  return new UserError("relay_not_started", `the relay ${name} does not start: ${reason}`, {
    hint: `see docker service ps --no-trunc ${name}`,
  });
}

/** The network that only the relay uses. */
const outsideNetwork = (project: string) => `${closedNetwork(project)}-out`;

/** In both networks its alias resolves to its own addresses. */
function relayService(options: DockerOptions, image: string): ServiceSpec {
  const { project } = options;
  const closed = { Target: closedNetwork(project), Aliases: [relay.alias] };
  const spec: ServiceSpec = {
    Mode: { Replicated: { Replicas: replicas } },
    EndpointSpec: { Mode: "dnsrr" },
    TaskTemplate: {
      ContainerSpec: {
        Image: image,
        Command: ["setpriv", "--no-new-privs", ...relayProgram(options)],
        User: relay.user,
        Env: relay.env,
        ReadOnly: true,
        Init: true,
        CapabilityDrop: ["ALL"],
        HealthCheck: { Test: ["NONE"] },
      },
      RestartPolicy: { Condition: "any", Delay: retryPauseNs },
      Resources: { Limits: { MemoryBytes: relay.memoryBytes, Pids: relay.pids } },
      Networks: [closed, { Target: outsideNetwork(project) }],
      LogDriver: { Name: "json-file", Options: smallLog },
    },
  };
  return { ...spec, Name: relayName(project), Labels: relayLabels(project, spec) };
}
