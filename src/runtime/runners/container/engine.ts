import { accessSync, constants } from "node:fs";
import { Agent } from "node:http";
import { homedir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import Docker from "dockerode";
import { isLoopback } from "../../../foundation/contracts/loopback.ts";
import { messageOf, reasonOf, Problem, failureOf } from "../../../foundation/errors.ts";
import { SshConnections } from "./ssh-connections.ts";

export interface EngineOptions {
  /** Where `DOCKER_HOST` and `XDG_RUNTIME_DIR` come from. */
  readonly env: NodeJS.ProcessEnv;
  readonly callTimeoutMs?: number;
}

const defaultCallTimeoutMs = 30_000;

/**
 * The engine at `DOCKER_HOST`, else at the first socket that this user may use: the system's, the rootless one,
 * Docker Desktop's, Podman's. Connects to nothing until it is used.
 */
export function connectEngine({ env, callTimeoutMs = defaultCallTimeoutMs }: EngineOptions) {
  let clients = clientsAt(env, callTimeoutMs);
  const reached = async <T>(ask: (docker: Docker) => Promise<T>): Promise<T> => {
    try {
      return await ask(clients.calls);
    } catch (error) {
      const { address } = clients;
      // A rootless engine that starts later makes its socket then.
      clients = clientsAt(env, callTimeoutMs);
      throw unreachable(error, address);
    }
  };
  return {
    /** For calls that answer at once; they fail after `callTimeoutMs`. */
    calls: (): Docker => clients.calls,
    /** For attach, wait, logs and builds: a timeout would end them while nothing is sent. */
    streams: (): Docker => clients.streams,
    /** Where the engine is, for a person. */
    address: (): string => clients.address,
    /** Rejects with a Problem `engine_unreachable` with a hint if the engine does not answer. */
    ping: (): Promise<unknown> => reached((docker) => docker.ping()),
    /** The engine's version, for which it asks each of its programs; rejects as `ping` does. */
    version: async (): Promise<string> => (await reached((docker) => docker.version())).Version,
  };
}

/** The container engine. */
export type Engine = ReturnType<typeof connectEngine>;

/**
 * Keeps no connection: an engine that shuts down still answers on those that it has, and so would seem to be well.
 * docker-modem puts its options, and with them all that an agent holds, into words for each request, whether or not
 * debugging is on; for ten containers at once that stopped the event loop for half a second.
 */
class QuietAgent extends Agent {
  constructor() {
    super({ keepAlive: false });
  }
  [inspect.custom](): string {
    return "Agent";
  }
}

function clientsAt(env: NodeJS.ProcessEnv, callTimeoutMs: number) {
  const host = env.DOCKER_HOST ?? "";
  const socketPath = host === "" ? firstSocket(env) : (/^unix:\/\/(.+)/.exec(host)?.[1] ?? null);
  const address = socketPath === null ? host : `unix://${socketPath}`;
  try {
    const place =
      socketPath === null ? placeOf(host, env) : { socketPath, agent: new QuietAgent() };
    return {
      calls: new Docker({ ...place, timeout: callTimeoutMs }),
      streams: new Docker({ ...place, timeout: 0 }),
      address,
    };
  } catch (error) {
    throw failureOf(
      "engine_address",
      `DOCKER_HOST ${address} can't be used`,
      error,
      "write it as tcp://build-1:2376 or ssh://me@build-1; for TLS set DOCKER_CERT_PATH to a folder with ca.pem, cert.pem and key.pem",
    );
  }
}

/** For TCP docker-modem reads DOCKER_HOST, DOCKER_TLS_VERIFY and DOCKER_CERT_PATH itself. */
function placeOf(host: string, env: NodeJS.ProcessEnv): object {
  if (!host.startsWith("ssh://")) return {};
  // Left to itself, docker-modem takes any machine that answers for the right one.
  const agent = new SshConnections(host, env);
  return { protocol: "http", host: "docker", agent };
}

const systemSocket = "/var/run/docker.sock";

function firstSocket(env: NodeJS.ProcessEnv): string {
  const runtimeDir = env.XDG_RUNTIME_DIR ?? "";
  const candidates = [
    systemSocket,
    ...(runtimeDir === "" ? [] : [join(runtimeDir, "docker.sock")]),
    join(homedir(), ".docker", "run", "docker.sock"),
    ...(runtimeDir === "" ? [] : [join(runtimeDir, "podman", "podman.sock")]),
  ];
  return candidates.find(usable) ?? systemSocket;
}

function usable(socket: string): boolean {
  try {
    accessSync(socket, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Codes of an engine that is not there, is going, or does not answer. */
const connectionCodes = new Set([
  "ENOENT",
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "EACCES",
  "EPERM",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "ETIMEDOUT",
  "ERR_STREAM_PREMATURE_CLOSE",
]);

/** Whether the engine could not be reached, as opposed to having refused. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof Problem) return error.code === "engine_unreachable";
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && connectionCodes.has(code);
}

/** The HTTP status of the engine's refusal; null if the error is not a response of the engine. */
export function statusOf(error: unknown): number | null {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === "number" ? status : null;
}

/** The engine's own message, without dockerode's frame around it. */
export function engineMessage(error: unknown): string {
  const message = (error as { json?: { message?: unknown } } | null)?.json?.message;
  return (typeof message === "string" ? message : messageOf(error)).trim();
}

/** Why something failed that may have asked the engine, for a person. */
export function engineReason(error: unknown): string {
  return error instanceof Problem ? reasonOf(error) : engineMessage(error);
}

function unreachable(error: unknown, address: string): Problem {
  const denied = ["EACCES", "EPERM"].includes(String((error as { code?: unknown }).code));
  const message = denied
    ? `this user may not use the container engine at ${address}`
    : `no container engine answers at ${address} (${engineMessage(error)})`;
  const hint = denied
    ? "add the user to the engine's group or use a rootless engine, and set DOCKER_HOST to its socket"
    : 'start the engine, or set DOCKER_HOST (for TLS also DOCKER_TLS_VERIFY and DOCKER_CERT_PATH); or set type = "host-user" under [runtime] of the agent';
  return new Problem("engine_unreachable", message, { hint, cause: error });
}

/** Whether the engine at `DOCKER_HOST` can mount this machine's files. */
function isLocal(host: string): boolean {
  const name = /^(?:ssh|tcp|https?):\/\/(?:[^@/]*@)?(\[[^\]]*\]|[^:/]*)/.exec(host)?.[1];
  return name === undefined || isLoopback(name);
}

/**
 * Why no container can be started for a run: the engine is another machine's, and a container there can't have the socket
 * by which a run reaches the scheduler. Null if it can.
 */
export function remoteEngineProblem(env: NodeJS.ProcessEnv, hasCluster: boolean): Problem | null {
  const host = env.DOCKER_HOST ?? "";
  // A scheduler in a container may reach its own machine's engine by a proxy in another container.
  if (isLocal(host) || (env.AL_SOCKETS ?? "") !== "") return null;
  const hint = hasCluster
    ? 'write type = "cluster" under [runtime] of the agent, or type = "host-user" for runs here'
    : 'for runs there run docker swarm init there, and write engine = "swarm" and address = "<this machine>:<port>" under [cluster] of config.toml; for runs here unset DOCKER_HOST';
  return new Problem(
    "remote_engine",
    `DOCKER_HOST is ${host}, the engine of another machine, which can't mount the run's socket`,
    hint,
  );
}
