import type { SettingsManager } from "@earendil-works/pi-coding-agent";
import type { JobModel } from "../../contracts/job.ts";
import { piProvider } from "./pi-providers.ts";

type Settings = NonNullable<Parameters<typeof SettingsManager.inMemory>[0]>;

/** Windows below this are shared out by quarters: pi's own reserve of 16,384 tokens would leave too little of them. */
const smallWindow = 65_536;

/** When pi summarizes a session: before it outgrows the window, also one that is small. */
export function compactionSettings(
  models: readonly JobModel[],
): NonNullable<Settings["compaction"]> {
  const overrides = models.flatMap((model, index) => {
    const { contextWindow } = model;
    if (contextWindow === null || contextWindow >= smallWindow) return [];
    const quarter = Math.floor(contextWindow / 4);
    const tokens = { reserveTokens: quarter, keepRecentTokens: quarter };
    return [[`${piProvider(model, index)}/${model.model}`, tokens] as const];
  });
  return { enabled: true, modelOverrides: Object.fromEntries(overrides) };
}
