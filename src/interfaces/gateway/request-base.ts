import { AsyncLocalStorage } from "node:async_hooks";
import { readBasePath } from "../dashboard/text/base-path.ts";

const requestBase = new AsyncLocalStorage<string>();
readBasePath(() => requestBase.getStore() ?? "");

/** Returns a function that runs work with the base path of one gateway for all links and pages that it makes. */
export function basePathOf(publicUrl: string | null): <T>(work: () => T) => T {
  const basePath = publicUrl === null ? "" : new URL(publicUrl).pathname.replace(/\/$/, "");
  return (work) => requestBase.run(basePath, work);
}
