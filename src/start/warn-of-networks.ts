import { networkWarnings } from "../runtime/runners/network-warnings.ts";
import type { SchedulerContext, Services } from "./services.ts";

/** What a run of another OS user has of the network is found out where it starts. */
export async function warnOfNetworks(
  { inputs, whyNotClosed }: SchedulerContext,
  services: Services,
): Promise<void> {
  const agents = services.observability.status.agents();
  const messages = await networkWarnings(agents, inputs.project$.value, whyNotClosed);
  for (const message of messages) services.warn(message);
}
