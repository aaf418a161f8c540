import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { logFileOf, logsDir } from "../../../src/foundation/logs/log-files.ts";
import { agentName } from "../bench-project.ts";
import { createWords, madeLine } from "../made-logs.ts";
import type { Words } from "../made-logs.ts";
import { spanMs } from "./fill-history.ts";
import type { ProjectSize } from "./large-project.ts";

const dayMs = 86_400_000;
/** Lines of a made run. Real ones have more; what counts here is how many files there are. */
const linesPerRun = 2;

/** Days with logs. The retention leaves fourteen; to index them all would take longer than all that is measured. */
const days = 4;

/** A log file for each agent and day, with lines of as many runs as the history has. */
export function fillLogs(projectDir: string, { agents, runs }: ProjectSize): void {
  const dir = logsDir(projectDir);
  mkdirSync(dir, { recursive: true });
  const words = createWords(3);
  const runsADay = runs / agents / (spanMs / dayMs);
  const begin = Date.now() - days * dayMs;
  for (let day = 0; day < days; day++) {
    for (let n = 0; n < agents; n++) {
      const agent = agentName(n);
      const from = begin + day * dayMs;
      const lines = linesOf(words, agent, from, Math.round(runsADay * linesPerRun));
      appendFileSync(join(dir, logFileOf(agent, from).name), lines, { mode: 0o600 });
    }
  }
}

function linesOf(words: Words, agent: string, from: number, count: number): string {
  const step = dayMs / (count + 1);
  const lines = Array.from({ length: count }, (_, i) => {
    const instanceId = `${agent}-${"abcdefgh".slice(0, 7)}${"abcdefgh"[Math.floor(i / linesPerRun) % 8] ?? "a"}`;
    return madeLine(words, { agent, instanceId, time: Math.round(from + i * step) });
  });
  return lines.join("");
}
