import { existsSync, accessSync, constants, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { StatusSnapshot } from "../../../../streams/status/wire.ts";
import { Problem, hasCode } from "../../../foundation/errors.ts";
import type { Client } from "./client.ts";
import { meantOr, mostLike } from "../../../foundation/contracts/did-you-mean.ts";
import type { Context } from "../context.ts";

/** A client of the scheduler that runs the project. Throws Problem `not_running` without one. */
export async function connect({ projectDir, env }: Context): Promise<Client> {
  const { readSchedulerInfo } = await import("../../../foundation/store/project-lock.ts");
  const { ensureApiKey } = await import("../../../foundation/credentials/api-key.ts");
  const { homeDir } = await import("../../../foundation/credentials/read-secret.ts");
  // Loads Node's HTTP, which help and completion need not wait for.
  const { operatorClient } = await import("./client.ts");
  mustHaveAccess(projectDir);
  const info = readSchedulerInfo(projectDir);
  if (info === null) throw notRunning(projectDir);
  if (info.socketPath === null) throw stillStarting(projectDir);
  const { key } = await ensureApiKey(homeDir(env));
  const client = operatorClient(info.socketPath, key);
  // One error for a scheduler that left its address behind and for one that never ran.
  const named = <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((error: unknown) => {
      throw isNotRunning(error) ? notRunning(projectDir) : error;
    });
  return {
    ...client,
    perform: (...given) => named(client.perform(...given)),
    get: (path) => named(client.get(path)),
    post: (...given) => named(client.post(...given)),
  };
}

/** True if the error means that no scheduler runs. */
export function isNotRunning(error: unknown): boolean {
  return hasCode(error, "not_running");
}

/** An error with one of these codes gets the hint, and the message if given; others are unchanged. */
export async function explained<T>(
  answer: Promise<T>,
  codes: readonly string[],
  { message, hint }: { readonly message?: string; readonly hint: string },
): Promise<T> {
  return answer.catch((error: unknown) => {
    if (!(error instanceof Problem) || !codes.includes(error.code)) throw error;
    throw new Problem(error.code, message ?? error.message, { hint, cause: error });
  });
}

/** The error for a directory without a scheduler or without a project. */
export function notRunning(projectDir: string): Problem {
  const missing = noProject(projectDir);
  if (missing !== null) return missing;
  return new Problem(
    "not_running",
    `no scheduler is running for ${projectDir}`,
    "Start it with `al start`.",
  );
}

/** The error for a directory without a project and a scheduler; null for a project. */
export function noProject(projectDir: string): Problem | null {
  if (existsSync(join(projectDir, "config.toml"))) return null;
  return new Problem(
    "not_running",
    `not a project: ${projectDir} has no config.toml`,
    "Create a project with `al new <dir>`, or name another directory with `-p <dir>`.",
  );
}

function stillStarting(projectDir: string): Problem {
  return new Problem(
    "starting",
    `the scheduler of ${projectDir} is just starting`,
    "Run the command again in a moment.",
  );
}

/** Does something with an agent; for an unknown one, the error suggests a similar name. */
export async function withAgent<T>(client: Client, agent: string, ask: Promise<T>): Promise<T> {
  try {
    return await ask;
  } catch (error) {
    if (!hasCode(error, "unknown_agent")) throw error;
    throw unknownAgent(agent, await agentNames(client));
  }
}

/** The error for an unknown agent, with the most similar name or a few similar ones. */
export function unknownAgent(agent: string, known: readonly string[]): Problem {
  return new Problem(
    "unknown_agent",
    `there is no agent "${agent}"`,
    meantOr(agent, known, namesLike(agent, known)),
  );
}

const namedAtMost = 3;

function namesLike(agent: string, known: readonly string[]): string {
  if (known.length === 0) return "The project has no agents yet.";
  if (known.length <= namedAtMost) return `Choose from ${known.join(", ")}.`;
  const names = mostLike(agent, known, namedAtMost).join(", ");
  return names === ""
    ? `List all ${known.length} with \`al stat\`.`
    : `Similar names: ${names}. List all ${known.length} with \`al stat\`.`;
}

/** The current state of the scheduler. */
export async function readSnapshot(client: Client): Promise<StatusSnapshot> {
  return client.perform("GET /control/status", {});
}

export async function agentNames(client: Client): Promise<readonly string[]> {
  return (await readSnapshot(client)).agents.map(({ name }) => name);
}

/** Throws Problem `no_access` if the project's state belongs to another OS user and is closed to this one. */
export function mustHaveAccess(projectDir: string): void {
  const state = join(projectDir, ".al");
  try {
    accessSync(join(state, "run"), constants.R_OK | constants.X_OK);
  } catch (error) {
    if (!hasCode(error, "EACCES", "EPERM")) return;
    throw new Problem("no_access", `${state} is not accessible to you${belongsTo(state)}`, {
      hint: "Run al as the OS user that starts the project's scheduler: `sudo -u <user> al …`.",
      cause: error,
    });
  }
}

function belongsTo(path: string): string {
  try {
    const { uid } = statSync(path);
    return `: it belongs to ${nameOf(uid)}`;
  } catch {
    return "";
  }
}

function nameOf(uid: number): string {
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  const [name] = lines.find((line) => line.split(":")[2] === String(uid))?.split(":") ?? [];
  return `the OS user ${name ?? uid}`;
}
