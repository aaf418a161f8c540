import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { githubDelivery } from "../crash/crash-cycle.ts";
import type { LoadAnswer, LoadRequest } from "../../features/webhooks/load.ts";

/** Makes a scheduler's store refuse transactions while that file exists, for its environment. */
export function faulty(file: string): NodeJS.ProcessEnv {
  const preload = pathToFileURL(join(import.meta.dirname, "break-commits.ts")).href;
  return { NODE_OPTIONS: `--import=${preload}`, AL_STORE_FAULT_FILE: file };
}

/** A delivery to the worker of a crash project. */
export const delivery = (n: number): LoadRequest => githubDelivery("store", n);

/** The receipts that were promised by these answers. */
export function receiptsOf(answers: readonly LoadAnswer[]): string[] {
  return answers
    .filter(({ status }) => status === 200)
    .map(({ text }) => (JSON.parse(text) as { receiptId: string }).receiptId);
}
