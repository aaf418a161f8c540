import { findApiKey, ensureApiKey } from "../../../foundation/credentials/api-key.ts";
import { hasCode } from "../../../foundation/errors.ts";
import { agentNames, finding, note, ofError, ok, type Check, type Finding } from "../finding.ts";
import { secretsOf, webhookSecretType } from "../../../foundation/credentials/credential-types.ts";
import { loadCredential } from "../../../foundation/credentials/load-credential.ts";
import { shortestHidden } from "../../../foundation/credentials/encoded-forms.ts";
import { enabledAgents, type DoctorContext } from "../doctor-context.ts";
import type { WebhookSource } from "../../../foundation/config/project-config.ts";

/** Whether the gateway's API key exists and can be used. Other users' access is part of the permissions. */
export const apiKey: Check = async ({ home }) => {
  try {
    const found = await findApiKey(home);
    if (found !== null) return [ok(found.path)];
    const repair = async () => {
      await ensureApiKey(home);
    };
    const text = "there is no API key for the gateway yet";
    return [finding("warning", text, home, "al doctor", repair)];
  } catch (error) {
    if (hasCode(error, "unsafe_credential")) return [];
    return [{ ...ofError(error, "error", null), fix: "al doctor --regenerate-key" }];
  }
};

/** Whether the credentials that agents name exist and are complete. */
export const credentials: Check = async (context) => {
  const agents = enabledAgents(context);
  const named = [...new Set(agents.flatMap((agent) => agent.credentials))].sort();
  return Promise.all(
    named.map(async (reference) => {
      try {
        const secrets = secretsOf(await loadCredential(context.home, reference));
        const isShort = secrets.some(({ length }) => length < shortestHidden);
        return isShort ? note(tooShort(reference)) : ok(reference);
      } catch (error) {
        const users = agents.filter((agent) => agent.credentials.includes(reference));
        const where = users.map(({ name }) => `agents/${name}/config.toml`).join(", ");
        return ofError(error, "error", where);
      }
    }),
  );
};

function tooShort(reference: string): string {
  return `a secret of ${reference} has fewer than ${shortestHidden} characters and is not redacted in logs`;
}

/** Whether each webhook source can check its deliveries, and which agents listen. Filters are part of the agents' check. */
export const webhooks: Check = async (context) => {
  const sources = Object.values(context.project?.webhooks ?? {});
  const found = await Promise.all(sources.map((source) => inspect(source, context)));
  return found.flat();
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

/** Whether the variable of the former authentication is still set. */
export const dashboardSecret: Check = ({ env }) =>
  env.AL_DASHBOARD_SECRET === undefined
    ? []
    : [
        finding(
          "warning",
          "AL_DASHBOARD_SECRET is no longer used: the dashboard accepts the API key",
          "AL_DASHBOARD_SECRET",
          "unset AL_DASHBOARD_SECRET",
        ),
      ];
