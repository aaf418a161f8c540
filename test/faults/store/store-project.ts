import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { githubDelivery } from "../crash/crash-cycle.ts";
import type { LoadRequest } from "../../features/webhooks/load.ts";

/** Makes a scheduler's store refuse transactions while that file exists, for its environment. */
export function faulty(file: string): NodeJS.ProcessEnv {
  const preload = pathToFileURL(join(import.meta.dirname, "break-commits.ts")).href;
  return { NODE_OPTIONS: `--import=${preload}`, AL_STORE_FAULT_FILE: file };
}

/** A delivery to the worker of a crash project. */
export const delivery = (n: number): LoadRequest => githubDelivery("store", n);
