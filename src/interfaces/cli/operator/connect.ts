import { existsSync } from "node:fs";
import { join } from "node:path";
import type { StatusSnapshot } from "../../../../streams/status/wire.ts";
import { UserError } from "../../../foundation/errors.ts";
import type { Client } from "./client.ts";
import { meantOr, mostLike } from "../../../foundation/contracts/did-you-mean.ts";
import type { Context } from "../context.ts";
import { mustHaveAccess } from "../project-access.ts";

/** A client of the scheduler that runs the project. Throws UserError `not_running` when there is none. */
export async function connect({ projectDir, env }: Context): Promise<Client> {
  const { readSchedulerInfo } = await import("../../../foundation/store/project-lock.ts");
  const { ensureApiKey } = await import("../../../foundation/credentials/api-key.ts");
  const { homeDir } = await import("../../../foundation/credentials/home-dir.ts");
  // With it comes Node's HTTP, which help and completion need not wait for.
  const { operatorClient } = await import("./client.ts");
  mustHaveAccess(projectDir);
  const info = readSchedulerInfo(projectDir);
  if (info === null) throw notRunning(projectDir);
  if (info.socketPath === null) throw stillStarting(projectDir);
  const { key } = await ensureApiKey(homeDir(env));
  const client = operatorClient({ socketPath: info.socketPath, apiKey: key });
  return {
    ...client,
    get: withNotRunning(client.get, projectDir),
    post: withNotRunning(client.post, projectDir),
  };
}

/** The error is the same for a scheduler that left its address behind as for one that never ran. */
function withNotRunning<Args extends unknown[]>(
  ask: (...args: Args) => Promise<unknown>,
  projectDir: string,
): (...args: Args) => Promise<unknown> {
  return (...args) =>
    ask(...args).catch((error: unknown) => {
      throw isNotRunning(error) ? notRunning(projectDir) : error;
    });
}

/** True for the error of a scheduler that is not there. */
export function isNotRunning(error: unknown): boolean {
  return error instanceof UserError && error.code === "not_running";
}

/** True for the error of a scheduler that does not listen yet. */
export function isStarting(error: unknown): boolean {
  return error instanceof UserError && error.code === "starting";
}

/** The error for a directory without a scheduler, or that is no project at all. */
export function notRunning(projectDir: string): UserError {
  const missing = noProject(projectDir);
  if (missing !== null) return missing;
  const hint = "al start starts one";
  return new UserError("not_running", `no scheduler is running for ${projectDir}`, { hint });
}

/** The error for a directory that is no project, as no scheduler runs there either; null for a project. */
export function noProject(projectDir: string): UserError | null {
  if (existsSync(join(projectDir, "config.toml"))) return null;
  return new UserError("not_running", `not a project: ${projectDir} holds no config.toml`, {
    hint: "al new <dir> makes one; -p <dir> names one that is somewhere else",
  });
}

function stillStarting(projectDir: string): UserError {
  const hint = "run the command again in a moment";
  return new UserError("starting", `the scheduler of ${projectDir} is just starting`, { hint });
}

/** Does something with an agent; when the scheduler doesn't know it, the error suggests the one that was meant. */
export async function withAgent<T>(client: Client, agent: string, ask: Promise<T>): Promise<T> {
  try {
    return await ask;
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== "unknown_agent") throw error;
    throw unknownAgent(agent, await agentNames(client));
  }
}

/** The error for a name that is no agent's, with the one that was meant or the few that are most like it. */
export function unknownAgent(agent: string, known: readonly string[]): UserError {
  return new UserError("unknown_agent", `there is no agent "${agent}"`, {
    hint: meantOr(agent, known, namesLike(agent, known)),
  });
}

const namedAtMost = 3;

function namesLike(agent: string, known: readonly string[]): string {
  if (known.length === 0) return "the project has no agents";
  if (known.length <= namedAtMost) return `agents: ${known.join(", ")}`;
  const names = mostLike(agent, known, namedAtMost).join(", ");
  return `most like it: ${names}; al stat lists all ${known.length}`;
}

/** The scheduler's state as it is now. */
export async function readSnapshot(client: Client): Promise<StatusSnapshot> {
  return (await client.get("/control/status")) as StatusSnapshot;
}

async function agentNames(client: Client): Promise<readonly string[]> {
  return (await readSnapshot(client)).agents.map(({ name }) => name);
}
