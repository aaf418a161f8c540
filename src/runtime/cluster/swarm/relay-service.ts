import { createHash } from "node:crypto";
import type { ServiceSpec } from "dockerode";
import { command, containerUser } from "../../runners/container/image/dockerfile.ts";
import { projectLabel } from "../../runners/container/labels.ts";
import { relayAlias } from "../relay-door.ts";
import { networkNames } from "./swarm-networks.ts";

/** What the relay was made from; another value replaces it. */
export const relayLabel = "al.relay";

/** When the machine of one goes away, runs get on by the other. */
const replicas = 2;

const relayMemoryBytes = 256 * 1024 * 1024;
const retryPauseNs = 1_000_000_000;

export interface RelayOptions {
  readonly project: string;
  /** `host:port` of the door. */
  readonly address: string;
  /** Has the program. */
  readonly image: string;
  /** The program instead of `al _door-relay`. */
  readonly command?: readonly string[];
}

const relayName = (project: string) => `${networkNames(project).closed}-door`;

/**
 * Passes bytes from the closed network to the door and nowhere else. It has no secret: what passes is TLS between run
 * and door. In both networks it answers to its alias by its own addresses.
 */
export function relayService(options: RelayOptions): ServiceSpec {
  const { project } = options;
  const spec = specOf(options);
  const made = createHash("sha256").update(JSON.stringify(spec)).digest("hex").slice(0, 16);
  return {
    ...spec,
    Name: relayName(project),
    Labels: { [projectLabel]: project, [relayLabel]: made },
  };
}

function specOf({ project, address, image, ...options }: RelayOptions): ServiceSpec {
  const { closed, outside } = networkNames(project);
  const program = options.command ?? [command, "_door-relay", address];
  return {
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
      Resources: { Limits: { MemoryBytes: relayMemoryBytes, Pids: 64 } },
      Networks: [{ Target: closed, Aliases: [relayAlias] }, { Target: outside }],
      LogDriver: { Name: "json-file", Options: { "max-size": "1m", "max-file": "1" } },
    },
  };
}
