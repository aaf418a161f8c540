import type { ContainerCreateOptions } from "dockerode";
import { nodeVariable } from "../../../foundation/contracts/remote-run.ts";
import { isolation, workDir } from "../../runners/container/container-options.ts";
import { containerUser } from "../../runners/container/image/dockerfile.ts";
import { agentLabel, instanceLabel, projectLabel } from "../../runners/container/labels.ts";
import type { Launch } from "../cluster-engine.ts";
import { tmpfsOptions, writableFolders } from "../writable-folders.ts";
import { closedNetwork } from "./closed-bridge.ts";

/**
 * A run's container on another machine, as containers of this one are, but for how its job comes: its ticket goes over
 * standard input. Nothing secret is in here, as every client of the engine can read it.
 */
export function runContainer(
  launch: Launch,
  project: string,
  node: string,
): ContainerCreateOptions {
  const { name, instanceId, agent, image, env, limits } = launch;
  const [file = "", ...args] = withTicketFromInput(launch.command);
  const isClosed = limits.network === "none";
  const { uid, gid } = containerUser;
  return {
    name,
    Image: image,
    Entrypoint: [file],
    Cmd: args,
    User: `${uid}:${gid}`,
    WorkingDir: workDir,
    Hostname: instanceId.slice(0, 63),
    Env: Object.entries({ ...env, [nodeVariable]: node }).map((each) => each.join("=")),
    Labels: { [projectLabel]: project, [agentLabel]: agent, [instanceLabel]: instanceId },
    OpenStdin: true,
    StdinOnce: true,
    Tty: false,
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      ...isolation(limits),
      Tmpfs: Object.fromEntries(
        writableFolders(launch).map((folder) => [folder.path, `rw,${tmpfsOptions(folder)}`]),
      ),
      NetworkMode: isClosed ? closedNetwork(project) : limits.network,
      // Names of the closed network are answered before it is asked; no other name has an answer.
      ...(isClosed && { Dns: ["127.0.0.1"] }),
      LogConfig: { Type: "json-file", Config: { "max-size": "1m", "max-file": "1" } },
    },
  };
}

/** `al _remote-run` reads a file else, which no container of an engine has before it is started. */
function withTicketFromInput(command: readonly string[]): readonly string[] {
  const run = command.indexOf("_remote-run");
  if (run === -1) return command;
  return [...command.slice(0, run + 1), "--ticket", "-", ...command.slice(run + 1)];
}
