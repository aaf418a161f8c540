import type { Provider } from "../../../streams/agent-config.ts";
import { gatewayKeyType } from "../contracts/credential-reference.ts";
import { alertTypes, telemetryTypes } from "./app-types.ts";
import { single, type CredentialType } from "./credential-type.ts";
import { serviceTypes } from "./service-types.ts";

/** A key of a model provider. Variables are the ones that the providers' own libraries read. */
function modelKey(provider: string, ...env: string[]): CredentialType {
  return single(`API key or token of ${provider}`, "key", ...env);
}

/** Types for the key of each provider that needs one; other models name theirs by `credential`. */
type ModelKeyType = `${Exclude<Provider, "scripted">}_key`;

const modelKeys: Readonly<Record<ModelKeyType, CredentialType>> = {
  anthropic_key: modelKey("Anthropic", "ANTHROPIC_API_KEY"),
  openai_key: modelKey("OpenAI", "OPENAI_API_KEY"),
  google_key: modelKey("Google", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
  groq_key: modelKey("Groq", "GROQ_API_KEY"),
  xai_key: modelKey("xAI", "XAI_API_KEY"),
  mistral_key: modelKey("Mistral", "MISTRAL_API_KEY"),
  openrouter_key: modelKey("OpenRouter", "OPENROUTER_API_KEY"),
  custom_key: modelKey("an endpoint of your own", "CUSTOM_API_KEY"),
};

/** The sender's name and the type of its secret, by webhook provider type. */
const webhookSecrets: Readonly<Record<string, readonly [sender: string, type: string]>> = {
  github: ["GitHub", "github_webhook_secret"],
  sentry: ["Sentry", "sentry_client_secret"],
  linear: ["Linear", "linear_webhook_secret"],
  mintlify: ["Mintlify", "mintlify_webhook_secret"],
  gitlab: ["GitLab", "gitlab_webhook_secret"],
  slack: ["Slack", "slack_signing_secret"],
  stripe: ["Stripe", "stripe_webhook_secret"],
  standard: ["a Standard Webhooks sender", "standard_webhook_secret"],
  gitea: ["Gitea", "gitea_webhook_secret"],
  forgejo: ["Forgejo", "forgejo_webhook_secret"],
  bitbucket: ["Bitbucket", "bitbucket_webhook_secret"],
  jira: ["Jira", "jira_webhook_secret"],
  pagerduty: ["PagerDuty", "pagerduty_webhook_secret"],
  shopify: ["Shopify", "shopify_webhook_secret"],
  generic: ["a sender", "generic_webhook_secret"],
};

const webhookSecretTypes = Object.fromEntries(
  Object.values(webhookSecrets).map(([sender, type]) => [
    type,
    single(`Secret that ${sender} signs its webhooks with`, "secret", type.toUpperCase()),
  ]),
);

/** The type of the credential that holds the secret of a webhook source; `providerType` is the source's. */
export function webhookSecretType(providerType: string): string {
  const known = Object.hasOwn(webhookSecrets, providerType) ? webhookSecrets[providerType] : null;
  return known?.[1] ?? `${providerType}_webhook_secret`;
}

/** How the scheduler itself uses a credential of the type; null if only runs use it. */
export function schedulersUseOf(type: string): string | null {
  if (Object.hasOwn(modelKeys, type)) return "the scheduler uses it for models";
  if (Object.hasOwn(webhookSecretTypes, type)) return "the scheduler verifies deliveries with it";
  if (Object.hasOwn(alertTypes, type)) return "the scheduler sends alerts with it";
  if (Object.hasOwn(telemetryTypes, type)) return "the scheduler sends traces with it";
  return null;
}

/** The types that the program knows. Any other type works too, with each field as `<TYPE>_<FIELD>`. */
export const credentialTypes: Readonly<Record<string, CredentialType>> = {
  ...modelKeys,
  ...serviceTypes,
  ...alertTypes,
  ...telemetryTypes,
  [gatewayKeyType]: single("The gateway's own API key; no agent may have it", "key"),
  ...webhookSecretTypes,
};

export function credentialType(type: string): CredentialType | null {
  return Object.hasOwn(credentialTypes, type) ? (credentialTypes[type] ?? null) : null;
}

/** The described fields of the run's copy of a credential. */
export function fieldsInRun(type: string): CredentialType["fields"] {
  const known = credentialType(type);
  return known?.inRun ?? known?.fields ?? {};
}

/** The secret values of a credential; a field that the program does not know counts as secret. */
export function secretsOf(credential: {
  readonly type: string;
  readonly fields: Readonly<Record<string, string>>;
}): string[] {
  const type = credentialType(credential.type);
  const known = { ...type?.fields, ...type?.inRun };
  const isOpen = (field: string) => Object.hasOwn(known, field) && known[field]?.open === true;
  return Object.entries(credential.fields).flatMap(([field, value]) =>
    isOpen(field) ? [] : [value],
  );
}
