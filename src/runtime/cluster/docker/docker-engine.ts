import type { ContainerCreateOptions } from "dockerode";
import type { Engine } from "../../runners/container/engine.ts";
import type { ClusterEngine, Launch, PlacedRun } from "../cluster-engine.ts";
import { createDockerCalls, type DockerOptions } from "./ask-engine.ts";
import { ensureClosedBridge, createContainer, removeContainer } from "./closed-bridge.ts";
import { closedNetwork, ifThere, labelsOf, noDns, runsOf, smallLog, ticketOf } from "./relay.ts";
import { instanceLabel } from "../../runners/container/labels.ts";
import { nodeVariable } from "../../wire/remote-protocol.ts";
import { isolation, workDir } from "../../runners/container/container-options.ts";
import { containerUser } from "../../runners/container/image/dockerfile.ts";
import { mountedSocketDir } from "../../wire/protocol.ts";

/** Runs as containers of an engine on another machine, reached by ssh or TCP. */
export function createDockerEngine(options: DockerOptions): ClusterEngine {
  const { engine, project } = options;
  return createDockerCalls(engine, {
    ensure: async () => {
      await engine.ping();
      await ensureClosedBridge(options);
    },
    start: (launch) => start(launch, options),
    remove: (name) => removeContainer(engine, name),
    list: () => placedContainers(engine, project),
  });
}

/** The ticket is written once the container reads: before its start it would be lost. */
async function start(launch: Launch, options: DockerOptions): Promise<void> {
  const { engine, project } = options;
  await createContainer(options, runContainer(launch, project, await machineName(engine)));
  const container = engine.streams().getContainer(launch.name);
  const input = await container.attach({ stream: true, stdin: true, hijack: true });
  input.on("error", () => undefined);
  await engine.calls().getContainer(launch.name).start();
  input.end(`${ticketOf(launch)}\n`);
}

const overStates = new Set(["exited", "dead", "removing"]);

/** The project's runs, from their containers. */
async function placedContainers(engine: Engine, project: string): Promise<readonly PlacedRun[]> {
  const containers = await engine.calls().listContainers({ all: true, filters: runsOf(project) });
  if (containers.length === 0) return [];
  const node = await machineName(engine);
  const runs = containers.map(async ({ Id, Names, Labels, State }) => {
    const [name = ""] = Names.map((each) => each.replace(/^\//, ""));
    const common = { name, instanceId: Labels[instanceLabel] ?? "", node, problem: null };
    // The ticket is written at the start, so a container that was not started will never run.
    if (State === "created") return { ...common, state: "ended" as const, endings: 0 };
    if (!overStates.has(State)) return { ...common, state: "running" as const, endings: 0 };
    return { ...common, state: "ended" as const, endings: 1, ...(await ending(engine, Id)) };
  });
  return Promise.all(runs);
}

async function ending(engine: Engine, id: string): Promise<Partial<PlacedRun>> {
  const inspected = await ifThere(engine.calls().getContainer(id).inspect());
  // The container was removed meanwhile.
  if (inspected === null) return { exitCode: null };
  const { ExitCode: exitCode, OOMKilled: outOfMemory, Error: reason } = inspected.State;
  const code = exitCode === 0 ? null : `its process ended with exit code ${exitCode}`;
  return { exitCode, outOfMemory, problem: reason === "" ? code : reason };
}

/** The name of the engine's machine, for people. */
async function machineName(engine: Engine): Promise<string> {
  const { Name } = (await engine.calls().info()) as { readonly Name: string };
  return Name;
}

/**
 * A run's container on another machine, like local ones except for its job: its ticket is sent over standard input. The
 * options hold no secrets, as every client of the engine can read them.
 */
function runContainer(launch: Launch, project: string, node: string): ContainerCreateOptions {
  const { name, instanceId, image, env, limits, volumes } = launch;
  const [file = "", ...args] = withTicketFromInput(launch.command);
  const isClosed = limits.network === "none";
  const { uid, gid } = containerUser;
  const isolated = isolation(limits, volumes);
  return {
    name,
    Image: image,
    Entrypoint: [file],
    Cmd: args,
    User: `${uid}:${gid}`,
    WorkingDir: workDir,
    Hostname: instanceId.slice(0, 63),
    Env: Object.entries({ ...env, [nodeVariable]: node }).map((each) => each.join("=")),
    Labels: labelsOf(launch, project),
    OpenStdin: true,
    StdinOnce: true,
    Tty: false,
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      ...isolated,
      // The run creates its socket there.
      Tmpfs: { ...isolated.Tmpfs, [mountedSocketDir]: "rw,noexec,nosuid,nodev,size=1m,mode=1777" },
      NetworkMode: isClosed ? closedNetwork(project) : limits.network,
      ...(isClosed && { Dns: noDns }),
      LogConfig: { Type: "json-file", Config: smallLog },
    },
  };
}

/** By default `al _remote-run` reads a file, which no container of an engine has before its start. */
function withTicketFromInput(command: readonly string[]): readonly string[] {
  const run = command.indexOf("_remote-run");
  if (run === -1) return command;
  return [...command.slice(0, run + 1), "--ticket", "-", ...command.slice(run + 1)];
}
