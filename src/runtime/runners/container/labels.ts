import { createHash } from "node:crypto";

/** Labels by which the program finds its own objects on an engine that others use too. */
export const projectLabel = "al.project";
export const agentLabel = "al.agent";
export const instanceLabel = "al.instance";

/** A project on this machine's engine: a hash, because its path is private. */
export function projectId(projectDir: string): string {
  return createHash("sha256").update(projectDir).digest("hex").slice(0, 16);
}

/** A run's container: known before it is made, and again by the scheduler that comes after a crash. */
export function containerName(projectDir: string, instanceId: string): string {
  return `al-${projectId(projectDir).slice(0, 8)}-${instanceId}`;
}
