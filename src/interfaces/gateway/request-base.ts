import { AsyncLocalStorage } from "node:async_hooks";
import { readBasePath } from "../dashboard/text/base-path.ts";

const requestBase = new AsyncLocalStorage<string>();
readBasePath(() => requestBase.getStore() ?? "");

/** Runs `work` with the base path of one gateway for all links and pages that it makes. */
export function withBasePath<T>(publicUrl: string | null, work: () => T): T {
  return requestBase.run(
    publicUrl === null ? "" : new URL(publicUrl).pathname.replace(/\/$/, ""),
    work,
  );
}
