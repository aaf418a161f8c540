import { anAgent } from "../../helpers/agents.ts";
import { testDeps } from "../gateway/start-gateway.ts";

/** Dependencies of a gateway whose agent dev has this config and these next ticks. */
export function withDetail(config: Parameters<typeof anAgent>[1] = {}, nextTicks: string[] = []) {
  const deps = testDeps();
  deps.operations.details.set("dev", { config: anAgent("dev", config), nextTicks });
  return deps;
}
