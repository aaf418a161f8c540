import type { WebhookSourceConfig } from "../../config/project-config.ts";
import { webhookSecretType } from "../../credentials/credential-types.ts";
import { loadCredential } from "../../credentials/load-credential.ts";
import type { Check, Finding } from "../finding.ts";
import { note, ok } from "../finding.ts";
import { enabledAgents } from "../patient.ts";
import type { Patient } from "../patient.ts";
import { ofError } from "../say.ts";

/** Whether each webhook source can check its deliveries, and who listens. Filters are part of the agents' check. */
export const webhooks: Check = {
  name: "webhooks",
  look: async (patient) => {
    const sources = Object.values(patient.project?.webhooks ?? {});
    const found = await Promise.all(sources.map((source) => look(source, patient)));
    return found.flat();
  },
};

async function look(source: WebhookSourceConfig, patient: Patient): Promise<Finding[]> {
  const { name, type, credential } = source;
  const listeners = enabledAgents(patient).filter((agent) =>
    agent.webhooks.some((binding) => binding.source === name),
  );
  const names = listeners.map((agent) => agent.name).join(", ");
  const heard =
    names === ""
      ? note(`no agent listens to ${name}`, `add [[webhooks]] with source = "${name}" to an agent`)
      : ok(`/webhooks/${type}/${name} starts ${names}`);
  if (credential === null) return [heard];
  try {
    await loadCredential(patient.home, `${webhookSecretType(type)}:${credential}`);
    return [heard];
  } catch (error) {
    return [heard, ofError(error, "error", `config.toml [webhooks.${name}]`)];
  }
}
