import { createHash } from "node:crypto";

/** Labels that identify the program's own objects on a shared engine. */
export const projectLabel = "al.project";
export const agentLabel = "al.agent";
export const instanceLabel = "al.instance";

/** A project on this machine's engine: a hash, because its path is private. */
export function projectId(projectDir: string): string {
  return createHash("sha256").update(projectDir).digest("hex").slice(0, 16);
}

/** Name of a run's container: known before its creation, and to the next scheduler after a crash. */
export function containerName(projectDir: string, instanceId: string): string {
  return `al-${projectId(projectDir).slice(0, 8)}-${instanceId}`;
}
