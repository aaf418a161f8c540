import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { hasCode } from "../errors.ts";
import { replacePrivately } from "./private-file.ts";

const schedulerInfoSchema = z.object({
  pid: z.int(),
  /** ISO 8601 UTC. */
  startedAt: z.string(),
  /** The socket of the operator API. */
  socketPath: z.string().nullable(),
  gatewayUrl: z.string().nullable(),
  version: z.string(),
});

/** The scheduler that holds a project, in `.al/run/scheduler.json`. Paths and URLs are null until it listens. */
export type SchedulerInfo = z.infer<typeof schedulerInfoSchema>;

/** The file in which a project's scheduler records how it is reached. */
export function infoPath(projectDir: string): string {
  return join(projectDir, ".al", "run", "scheduler.json");
}

/** Writes who holds a project; only the holder of its lock may. */
export function writeInfo(projectDir: string, info: SchedulerInfo): void {
  replacePrivately(infoPath(projectDir), `${JSON.stringify(info, null, 2)}\n`);
}

/** The last recorded holder of a project, where it still lives; null when that is unknown. */
export function readInfo(projectDir: string): SchedulerInfo | null {
  if (!existsSync(infoPath(projectDir))) return null;
  try {
    const parsed = schedulerInfoSchema.safeParse(
      JSON.parse(readFileSync(infoPath(projectDir), "utf8")),
    );
    // The file of a scheduler that died is there until the next one, which holds the lock already, writes its own.
    return parsed.success && isAlive(parsed.data.pid) ? parsed.data : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives and belongs to another user.
    return hasCode(error, "EPERM");
  }
}
