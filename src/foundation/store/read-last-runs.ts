import type { AgentRuns } from "../contracts/spend.ts";
import { readBeside } from "./read-beside.ts";
import { createSpendReport } from "./spend-report.ts";

/** What the last runs of each agent cost and how many are triggered. Empty where no run is on record. */
export function readLastRuns(projectDir: string, limit: number): ReadonlyMap<string, AgentRuns> {
  const none = new Map<string, AgentRuns>();
  return readBeside(projectDir, (db) => createSpendReport(db).lastRuns(limit), none);
}
