import { providers } from "../../../streams/agent-config.ts";
import type { Provider } from "../../../streams/agent-config.ts";
import { apiBaseUrl } from "../contracts/base-url.ts";
import { modelDefaults } from "../contracts/model-defaults.ts";

/** The part of the reference page on the providers of models, as markdown. */
export function providerReference(): string {
  const rows = providers.filter((one) => one !== "scripted").map(row);
  const head = [
    "| provider | `api` | `baseUrl` | `oauth_token` is sent as | an unknown model's window |",
    "|---|---|---|---|---|",
  ];
  return [intro, [...head, ...rows].join("\n"), notes].join("\n\n");
}

const intro = `## The providers of models

How each is asked where \`[models.<name>]\` says nothing else.`;

const notes = `A \`baseUrl\` counts with and without its version (\`/v1\`, \`/v1beta\`), with a slash at its end and with the path of an
endpoint, such as \`/v1/chat/completions\`. A server with a path of its own and another version, or none, is asked under
the path as it stands; write the endpoint's whole address for one without version and path.

A key with \`authType = "api_key"\` is sent as \`x-api-key\` to anthropic-messages, as \`x-goog-api-key\` to
google-generative-ai, and else as \`Authorization: Bearer\`. An OAuth token is sent to anthropic as Claude Code sends it.

A model that is not in pi's list is asked without a limit of its answer (anthropic-messages requires one: 64,000 tokens, or
what an older model allows) and reasons as the provider's current models do; with groq, mistral and custom it reasons only
where \`thinkingLevel\` says so. \`al start\` and \`al doctor\` name such models until \`contextWindow\` is set.`;

function row(provider: Provider): string {
  const { api, contextWindow } = modelDefaults(provider, "");
  const url = provider === "custom" ? "required" : `\`${apiBaseUrl(null, { provider, api })}\``;
  const token = api === "google-generative-ai" ? "(not taken)" : "`Authorization: Bearer`";
  const window = contextWindow.toLocaleString("en");
  return `| ${[provider, `\`${api}\``, url, token, `${window} tokens`].join(" | ")} |`;
}
