import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { kindOf } from "../../../foundation/contracts/log-kinds.ts";
import { UserError } from "../../../foundation/errors.ts";
import { logsDir } from "../../../foundation/logs/log-files.ts";
import { readLog } from "../../../foundation/logs/log-reader.ts";
import type { Context } from "../context.ts";
import { noProject, unknownAgent } from "../operator/connect.ts";
import { mustHaveAccess } from "../project-access.ts";
import { formatLog, type LogStream } from "./log-line.ts";

/** Prints the log so far from the files, which exist without a scheduler too. */
export async function showLogs(context: Context, stream: LogStream, since: number): Promise<void> {
  const { out, projectDir } = context;
  mustHaveAccess(projectDir);
  const lines = await readLog(logsDir(projectDir), { ...stream, after: null });
  if (lines.length === 0) await refuseUnknown(projectDir, stream);
  const entries = lines.map(({ entry }) => entry).filter(({ time }) => time >= since);
  if (out.json) return out.document({ entries });
  if (entries.length === 0) out.note("no log lines yet");
  const style = { colors: out.colors, showAgent: stream.agent === null, now: Date.now() };
  for (const entry of withoutRepeats(entries)) out.data(formatLog(entry, style));
}

/** Without the output of calls that have a result: the result repeats it. */
function withoutRepeats(entries: readonly LogEntry[]): readonly LogEntry[] {
  const idOf = ({ instanceId, call }: LogEntry) => JSON.stringify([instanceId, call]);
  const ends = entries.filter((entry) => ["tool-result", "hook"].includes(kindOf(entry) ?? ""));
  const ended = new Set(ends.map(idOf));
  return entries.filter((entry) => kindOf(entry) !== "tool-output" || !ended.has(idOf(entry)));
}

/** An agent without a line may be new. Throws UserError for one without a folder, and for a run without a line. */
export async function refuseUnknown(
  projectDir: string,
  { agent, instanceId }: Pick<LogStream, "agent" | "instanceId">,
): Promise<void> {
  const missing = noProject(projectDir);
  if (missing !== null) throw missing;
  const known = await readdir(join(projectDir, "agents")).catch((): string[] => []);
  if (agent !== null && agent !== "scheduler" && !known.includes(agent)) {
    throw unknownAgent(agent, known);
  }
  if (instanceId === null) return;
  throw new UserError("unknown_run", `there are no log lines of a run ${instanceId}`, {
    hint: "al history shows the runs and their ids",
  });
}
