import { createHash } from "node:crypto";
import type { NetworkCreateOptions } from "dockerode";
import { engineMessage, statusOf, type Engine } from "../../runners/container/engine.ts";
import { command, containerUser } from "../../runners/container/image/dockerfile.ts";
import { agentLabel, instanceLabel, projectLabel } from "../../runners/container/labels.ts";
import type { Launch } from "../cluster-engine.ts";
import { hostAndPortOf } from "../host-and-port.ts";
import { ticketSchema } from "../../wire/remote-protocol.ts";
import type { DockerOptions } from "./ask-engine.ts";

/** The network of a project's closed runs, which contains the relay and has no way out. */
export const closedNetwork = (project: string) => `al-${project.slice(0, 8)}`;
export const relayName = (project: string) => `${closedNetwork(project)}-door`;

/** The properties that relays have on every engine. */
export const relay = {
  /** Host name of the relay, for runs with a closed network. */
  alias: "al-door",
  memoryBytes: 256 * 1024 * 1024,
  pids: 64,
  user: `${containerUser.uid}:${containerUser.gid}`,
  env: ["HOME=/nonexistent", "LANG=C.UTF-8"],
  /** Label with a hash of the relay's spec; a relay with another value is replaced. */
  label: "al.relay",
};

export const smallLog = { "max-size": "1m", "max-file": "1" };
/** Names of the closed network are answered before it is asked; no other name has an answer. */
export const noDns = ["127.0.0.1"];

/**
 * Program and arguments of the relay. It forwards bytes from the closed network only to the door, and has no secret: the
 * bytes are TLS between run and door.
 */
export function relayProgram({ config, relayCommand }: DockerOptions): readonly string[] {
  return relayCommand ?? [command, "_door-relay", config.address];
}

/** The labels of a relay with this spec. */
export function relayLabels(project: string, spec: object): Record<string, string> {
  const made = createHash("sha256").update(JSON.stringify(spec)).digest("hex").slice(0, 16);
  return { [projectLabel]: project, [relay.label]: made };
}

/** The labels that identify a run. */
export function labelsOf({ agent, instanceId }: Launch, project: string): Record<string, string> {
  return { [projectLabel]: project, [agentLabel]: agent, [instanceLabel]: instanceId };
}

/** The filter of a project's runs. */
export function runsOf(project: string) {
  return { label: [`${projectLabel}=${project}`, instanceLabel] };
}

/** The ticket of a run. A closed one reaches the door only by the relay, which listens on the door's port. */
export function ticketOf({ ticket, limits }: Launch): string {
  if (limits.network !== "none") return ticket;
  const { door, ...rest } = ticketSchema.parse(JSON.parse(ticket));
  return JSON.stringify({ ...rest, door: `${relay.alias}:${hostAndPortOf(door).port}` });
}

/** Creates the network if it is missing. An existing one is kept: runs may use it. */
export async function ensureNetwork(
  engine: Engine,
  project: string,
  options: NetworkCreateOptions,
): Promise<void> {
  const there = await engine.calls().listNetworks({ filters: { name: [options.Name] } });
  if (there.some(({ Name }) => Name === options.Name)) return;
  try {
    const Labels = { [projectLabel]: project };
    await engine.calls().createNetwork({ ...options, CheckDuplicate: true, Labels });
  } catch (error) {
    // Another scheduler of the project was faster.
    if (statusOf(error) !== 409 && !/already exists/.test(engineMessage(error))) throw error;
  }
}

/** Waits for the request for an object; null if the engine has no such object. */
export async function ifThere<T>(answer: Promise<T>): Promise<T | null> {
  return answer.catch((error: unknown) => {
    if (statusOf(error) === 404) return null;
    throw error;
  });
}
