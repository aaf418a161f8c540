import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { AuthConfig, NetworkCreateOptions, ServiceSpec } from "dockerode";
import type { ClusterConfig } from "../../../foundation/config/cluster-place.ts";
import { Problem } from "../../../foundation/errors.ts";
import { engineMessage, statusOf, type Engine } from "../../runners/container/engine.ts";
import { command, containerUser } from "../../runners/container/image/dockerfile.ts";
import { projectLabel } from "../../runners/container/labels.ts";
import { unlessRefused } from "./ask-engine.ts";
import { closedNetwork, smallLog } from "./run-service.ts";
import { isTaskOver, type SwarmTask } from "./swarm-tasks.ts";

export interface SwarmOptions {
  readonly engine: Engine;
  /** Identifies the project among others of the Swarm: at least 8 lower-case letters and digits. */
  readonly project: string;
  readonly config: Pick<ClusterConfig, "address" | "subnet">;
  /** Name of an image that has the program. */
  readonly programImage: () => Promise<string>;
  /** The login to pull an image; undefined if the registry needs none. */
  readonly loginFor: (image: string) => Promise<AuthConfig | undefined>;
  /** The relay's program instead of `al _door-relay`. */
  readonly relayCommand?: readonly string[];
}

/** Host name of the relay, for runs with a closed network. */
export const relayAlias = "al-door";
/** Label with a hash of the relay's spec; a relay with another value is replaced. */
const relayLabel = "al.relay";
const memoryBytes = 256 * 1024 * 1024;
const maxProcesses = 64;
/** How long a relay may take to start, in ms: its image may have to be pulled. */
const startTimeoutMs = 60_000;
const pauseMs = 250;
/** If the machine of one relay goes away, runs connect through the other. */
const replicas = 2;
const retryPauseNs = 1_000_000_000;

/** Creates both networks, and creates or updates the relay's service; resolves when one of its tasks runs. */
export async function ensureRelay(options: SwarmOptions): Promise<void> {
  const { engine, project, config, programImage, loginFor } = options;
  const image = await programImage();
  const IPAM = { Config: [{ Subnet: config.subnet }] };
  await ensureNetwork(engine, project, { Name: closedNetwork(project), Internal: true, IPAM });
  await ensureNetwork(engine, project, { Name: outsideNetwork(project) });
  await createOrUpdate(engine, relayService(options, image), (await loginFor(image)) ?? {});
  const deadline = performance.now() + startTimeoutMs;
  for (;;) {
    const tasks = await tasksOf(engine, relayName(project));
    if (tasks.some(({ Status }) => Status.State === "running")) return;
    if (performance.now() > deadline) throw notStarted(relayName(project), tasks);
    await wait(pauseMs);
  }
}

/** Creates the network if it is missing. An existing one is kept: runs may use it. */
async function ensureNetwork(
  engine: Engine,
  project: string,
  options: NetworkCreateOptions,
): Promise<void> {
  const there = await engine.calls().listNetworks({ filters: { name: [options.Name] } });
  if (there.some(({ Name }) => Name === options.Name)) return;
  try {
    const Labels = { [projectLabel]: project };
    const overlay = { ...options, Driver: "overlay", CheckDuplicate: true, Labels };
    await engine.calls().createNetwork(overlay);
  } catch (error) {
    // Another scheduler of the project was faster.
    if (statusOf(error) !== 409 && !/already exists/.test(engineMessage(error))) throw error;
  }
}

interface InspectedService {
  readonly Version: { readonly Index: number };
  readonly Spec: ServiceSpec;
}

async function createOrUpdate(engine: Engine, spec: ServiceSpec, authconfig: object) {
  const service = engine.calls().getService(spec.Name ?? "");
  const there = (await service.inspect().catch((error: unknown) => {
    if (statusOf(error) === 404) return null;
    throw error;
  })) as InspectedService | null;
  if (there === null) {
    // A relay of that name may have been created meanwhile by another scheduler of the project.
    return unlessRefused([409], engine.calls().createService(authconfig, spec));
  }
  if (there.Spec.Labels?.[relayLabel] === spec.Labels?.[relayLabel]) return;
  // By default the client writes the whole object into the address, too.
  const update = { _query: { version: there.Version.Index }, _body: spec };
  await service.update({ ...update, authconfig });
}

async function tasksOf(engine: Engine, service: string): Promise<readonly SwarmTask[]> {
  return (await engine.calls().listTasks({ filters: { service: [service] } })) as SwarmTask[];
}

function notStarted(name: string, tasks: readonly SwarmTask[]): Problem {
  const failed = tasks.find(({ Status }) => isTaskOver(Status.State) && Status.Err !== undefined);
  const waiting = tasks.find(({ Status }) => Status.Err !== undefined);
  const reason = (failed ?? waiting)?.Status.Err ?? "none of its tasks runs";
  return new Problem(
    "relay_not_started",
    `the relay ${name} does not start: ${reason}`,
    `see docker service ps --no-trunc ${name}`,
  );
}

const relayName = (project: string) => `${closedNetwork(project)}-door`;

/** The network that only the relay uses. */
const outsideNetwork = (project: string) => `${closedNetwork(project)}-out`;

/**
 * It forwards bytes from the closed network only to the door, and has no secret: the bytes are TLS between run and door.
 * In both networks its alias resolves to its own addresses.
 */
function relayService({ project, config, relayCommand }: SwarmOptions, image: string): ServiceSpec {
  const program = relayCommand ?? [command, "_door-relay", config.address];
  const closed = { Target: closedNetwork(project), Aliases: [relayAlias] };
  const spec: ServiceSpec = {
    Mode: { Replicated: { Replicas: replicas } },
    EndpointSpec: { Mode: "dnsrr" },
    TaskTemplate: {
      ContainerSpec: {
        Image: image,
        Command: ["setpriv", "--no-new-privs", ...program],
        User: `${containerUser.uid}:${containerUser.gid}`,
        Env: ["HOME=/nonexistent", "LANG=C.UTF-8"],
        ReadOnly: true,
        Init: true,
        CapabilityDrop: ["ALL"],
        HealthCheck: { Test: ["NONE"] },
      },
      RestartPolicy: { Condition: "any", Delay: retryPauseNs },
      Resources: { Limits: { MemoryBytes: memoryBytes, Pids: maxProcesses } },
      Networks: [closed, { Target: outsideNetwork(project) }],
      LogDriver: { Name: "json-file", Options: smallLog },
    },
  };
  const hash = createHash("sha256").update(JSON.stringify(spec)).digest("hex").slice(0, 16);
  return {
    ...spec,
    Name: relayName(project),
    Labels: { [projectLabel]: project, [relayLabel]: hash },
  };
}
