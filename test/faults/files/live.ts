import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { AgentStatus, StatusSnapshot } from "../../../streams/status/wire.ts";
import type { TestProject, TestScheduler } from "../../helpers/scheduler.ts";
import { logFileOf, logsDir } from "../../../src/foundation/logs/log-files.ts";
import { agentConfig } from "../../bench/bench-project.ts";

/** How a person sees the files of a live project to be in force. */
export function looksAt({ api }: TestScheduler) {
  const status = async (): Promise<StatusSnapshot> =>
    (await (await api("/control/status")).json()) as StatusSnapshot;
  const agent = async (name: string): Promise<AgentStatus | undefined> =>
    (await status()).agents.find((one) => one.name === name);
  return {
    status,
    agent,
    names: async () => (await status()).agents.map(({ name }) => name).sort(),
    /** Resolves when the agent is next due at this minute of an hour. */
    inForce: (name: string, minute: number, timeout = 8_000) =>
      expect
        .poll(async () => (await agent(name))?.nextRunAt?.slice(14, 16), { timeout, interval: 50 })
        .toBe(String(minute).padStart(2, "0")),
  };
}

/** A config that is due once a year, at a minute that tells one edit from the next. */
export function dueAt(minute: number, more = ""): string {
  return agentConfig(`schedule = "${minute} 12 1 1 *"\ntimezone = "UTC"\n${more}`);
}

export const agentDir = ({ dir }: TestProject, name: string): string => join(dir, "agents", name);
export const configOf = (project: TestProject, name: string): string =>
  join(agentDir(project, name), "config.toml");

/** Writes an agent's two files. */
export async function putAgent(project: TestProject, name: string, config: string): Promise<void> {
  await mkdir(agentDir(project, name), { recursive: true });
  await writeFile(join(agentDir(project, name), "SKILL.md"), "Do it.\n");
  await writeFile(configOf(project, name), config);
}

/** Writes a line to an agent's log of today, as the scheduler does. */
export async function appendLine(project: TestProject, agent: string, msg: string): Promise<void> {
  const line = JSON.stringify({ level: 30, time: Date.now(), agent, msg });
  await appendFile(logPath(project, agent), `${line}\n`);
}

/** Where an agent's lines of today are. */
export function logPath({ dir }: TestProject, agent: string): string {
  return join(logsDir(dir), logFileOf(agent, Date.now()).name);
}
