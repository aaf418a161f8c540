import { readdirSync, readlinkSync } from "node:fs";

/** Files of the project that this process has open. */
export const openLogs = (project: string): string[] =>
  readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(project) ? [path] : [];
    } catch {
      return [];
    }
  });
