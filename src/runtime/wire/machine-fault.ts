import { dirname } from "node:path";

/** The shortage of the machine, by the system's error code; `place` is a folder on the disk in question. */
const faults: Readonly<Record<string, (place: string) => string>> = {
  ENOSPC: (place) => `no space left on the disk of ${place}`,
  EDQUOT: (place) => `the disk quota is used up on the disk of ${place}`,
  EROFS: (place) => `the disk of ${place} is read-only`,
  EMFILE: () => "the process has too many open files",
  ENFILE: () => "the machine has too many open files",
  ENOMEM: () => "the machine is out of memory",
  EAGAIN: () => "the machine can start no more processes",
};

/** Faults of the machine by messages of a container engine, which answers without codes. */
const engineWords: readonly (readonly [RegExp, string])[] = [
  [/no space left on device/i, "ENOSPC"],
  [/disk quota exceeded/i, "EDQUOT"],
  [/read-only file system/i, "EROFS"],
  [/too many open files/i, "ENFILE"],
  [/cannot allocate memory/i, "ENOMEM"],
  [/resource temporarily unavailable/i, "EAGAIN"],
];

/**
 * Text about the shortage of the machine (disk, memory, files) that caused an error; the same work may succeed later.
 * Null for every other error. `place` is the folder that was written to, in case the error has no path.
 */
export function machineFault(error: unknown, place: string): string | null {
  if (!(error instanceof Error)) return null;
  const code = codeOf(error);
  if (code === null) return machineFault(error.cause, place);
  const path = "path" in error && typeof error.path === "string" ? dirname(error.path) : place;
  return faults[code]?.(path) ?? null;
}

function codeOf(error: Error): string | null {
  if ("statusCode" in error) return engineCodeOf(error.message);
  if (!("code" in error) || typeof error.code !== "string" || !(error.code in faults)) return null;
  // EAGAIN from other calls means: retry at once.
  const isSpawn = "syscall" in error && String(error.syscall).startsWith("spawn");
  return error.code !== "EAGAIN" || isSpawn ? error.code : null;
}

function engineCodeOf(message: string): string | null {
  return engineWords.find(([words]) => words.test(message))?.[1] ?? null;
}
