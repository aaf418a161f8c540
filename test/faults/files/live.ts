import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import type { LiveProject } from "../../helpers/live-project.ts";
import type { TestProject } from "../../helpers/scheduler.ts";
import { logFileOf, logsDir } from "../../../src/foundation/logs/log-files.ts";

/** Resolves when the agent is next due at this minute of an hour. */
export function inForce(
  project: LiveProject,
  name: string,
  minute: number,
  timeout = 8_000,
): Promise<void> {
  const next = async () => (await project.agent(name))?.nextRunAt?.slice(14, 16);
  return expect.poll(next, { timeout, interval: 50 }).toBe(String(minute).padStart(2, "0"));
}

/** Lines of a config that is due once a year, at a minute that tells one edit from the next. */
export const dueAt = (minute: number, more = ""): string =>
  `schedule = "${minute} 12 1 1 *"\ntimezone = "UTC"\n${more}`;

/** Writes a line to an agent's log of today, as the scheduler does. */
export async function appendLine({ dir }: TestProject, agent: string, msg: string): Promise<void> {
  const line = JSON.stringify({ level: 30, time: Date.now(), agent, msg });
  await appendFile(join(logsDir(dir), logFileOf(agent, Date.now()).name), `${line}\n`);
}
