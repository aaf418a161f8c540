import type { Provider } from "../../../streams/agent-config.ts";
import { gatewayKeyType } from "../contracts/credential-reference.ts";
import { alertTypes, telemetryTypes } from "./app-types.ts";
import { single, type CredentialType } from "./credential-type.ts";
import { serviceTypes } from "./service-types.ts";

/** A key of a model provider. Variables are the ones that the providers' own libraries read. */
function modelKey(provider: string, ...env: string[]): CredentialType {
  return single(`API key or token of ${provider}`, "key", ...env);
}

function webhookSecret(provider: string, variable: string): CredentialType {
  return single(`Secret that ${provider} signs its webhooks with`, "secret", variable);
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

/** Secret credential type by webhook provider type. */
const webhookSecretTypes: Readonly<Record<string, string>> = {
  github: "github_webhook_secret",
  sentry: "sentry_client_secret",
  linear: "linear_webhook_secret",
  mintlify: "mintlify_webhook_secret",
  gitlab: "gitlab_webhook_secret",
  slack: "slack_signing_secret",
  stripe: "stripe_webhook_secret",
  standard: "standard_webhook_secret",
};

/** The type of the credential that holds the secret of a webhook source; `providerType` is the source's. */
export function webhookSecretType(providerType: string): string {
  const known = Object.hasOwn(webhookSecretTypes, providerType)
    ? webhookSecretTypes[providerType]
    : undefined;
  return known ?? `${providerType}_webhook_secret`;
}

/** How the scheduler itself uses a credential of the type; null if only runs use it. */
export function schedulersUseOf(type: string): string | null {
  if (Object.hasOwn(modelKeys, type)) return "the scheduler uses it for models";
  if (Object.values(webhookSecretTypes).includes(type))
    return "the scheduler verifies deliveries with it";
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
  github_webhook_secret: webhookSecret("GitHub", "GITHUB_WEBHOOK_SECRET"),
  sentry_client_secret: webhookSecret("Sentry", "SENTRY_CLIENT_SECRET"),
  linear_webhook_secret: webhookSecret("Linear", "LINEAR_WEBHOOK_SECRET"),
  mintlify_webhook_secret: webhookSecret("Mintlify", "MINTLIFY_WEBHOOK_SECRET"),
  gitlab_webhook_secret: webhookSecret("GitLab", "GITLAB_WEBHOOK_SECRET"),
  slack_signing_secret: webhookSecret("Slack", "SLACK_SIGNING_SECRET"),
  stripe_webhook_secret: webhookSecret("Stripe", "STRIPE_WEBHOOK_SECRET"),
  standard_webhook_secret: webhookSecret("a Standard Webhooks sender", "STANDARD_WEBHOOK_SECRET"),
};

export function credentialType(type: string): CredentialType | null {
  return Object.hasOwn(credentialTypes, type) ? (credentialTypes[type] ?? null) : null;
}

/** The secret values of a credential; a field that the program does not know counts as secret. */
export function secretsOf(credential: {
  readonly type: string;
  readonly fields: Readonly<Record<string, string>>;
}): string[] {
  const known = credentialType(credential.type)?.fields ?? {};
  const isOpen = (field: string) => Object.hasOwn(known, field) && known[field]?.open === true;
  return Object.entries(credential.fields).flatMap(([field, value]) =>
    isOpen(field) ? [] : [value],
  );
}
