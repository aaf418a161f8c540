import type { WebhookSource } from "../../../foundation/contracts/webhook-filters.ts";
import { webhookSecretType } from "../../../foundation/credentials/credential-types.ts";
import { loadCredential } from "../../../foundation/credentials/load-credential.ts";
import type { Check, Finding } from "../finding.ts";
import { agentNames, note, ofError, ok } from "../finding.ts";
import { enabledAgents } from "../doctor-context.ts";
import type { DoctorContext } from "../doctor-context.ts";

/** Whether each webhook source can check its deliveries, and who listens. Filters are part of the agents' check. */
export const webhooks: Check = {
  name: "webhooks",
  run: async (context) => {
    const sources = Object.values(context.project?.webhooks ?? {});
    const found = await Promise.all(sources.map((source) => inspect(source, context)));
    return found.flat();
  },
};

async function inspect(source: WebhookSource, context: DoctorContext): Promise<Finding[]> {
  const { name, type, credential } = source;
  const listeners = enabledAgents(context).filter((agent) =>
    agent.webhooks.some((binding) => binding.source === name),
  );
  const names = agentNames(listeners.map((agent) => agent.name));
  const heard =
    names === ""
      ? note(`no agent listens to ${name}`, `add [[webhooks]] with source = "${name}" to an agent`)
      : ok(`/webhooks/${type}/${name} starts ${names}`);
  if (credential === null) return [heard];
  try {
    await loadCredential(context.home, `${webhookSecretType(type)}:${credential}`);
    return [heard];
  } catch (error) {
    return [heard, ofError(error, "error", `config.toml [webhooks.${name}]`)];
  }
}
