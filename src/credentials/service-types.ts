import { single } from "./credential-type.ts";
import type { CredentialType, FileVariable } from "./credential-type.ts";

/** Credentials of the services that agents work with. Variables are the ones that the services' own tools read. */
export const serviceTypes: Readonly<Record<string, CredentialType>> = {
  github_token: single(
    "Token for GitHub's API, git over HTTPS and the gh command",
    "token",
    "GITHUB_TOKEN",
    "GH_TOKEN",
  ),
  gitlab_token: single("Token for GitLab's API and the glab command", "token", "GITLAB_TOKEN"),
  git_ssh: {
    description: "Identity for git over SSH",
    fields: {
      private_key: { description: "Private key without a passphrase; used as a file", env: [] },
      known_hosts: {
        description: "Host keys, one a line; without them the first key that a host shows is taken",
        env: [],
        optional: true,
        open: true,
      },
      name: {
        description: "Name in commits",
        env: ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"],
        optional: true,
        open: true,
      },
      email: {
        description: "E-mail address in commits",
        env: ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"],
        optional: true,
        open: true,
      },
    },
    files: (has) => [sshCommand(has("known_hosts"))],
  },
  aws: {
    description: "Access key for AWS",
    fields: {
      access_key_id: { description: "Access key ID", env: ["AWS_ACCESS_KEY_ID"] },
      secret_access_key: { description: "Secret access key", env: ["AWS_SECRET_ACCESS_KEY"] },
      session_token: {
        description: "Session token of temporary keys",
        env: ["AWS_SESSION_TOKEN"],
        optional: true,
      },
      region: {
        description: "Region, such as eu-central-1",
        env: ["AWS_REGION", "AWS_DEFAULT_REGION"],
        optional: true,
        open: true,
      },
    },
  },
  gcp_service_account: {
    description: "Service account of Google Cloud",
    fields: { key_file: { description: "The account's JSON key; used as a file", env: [] } },
    files: () => [
      { variable: "GOOGLE_APPLICATION_CREDENTIALS", field: "key_file", value: "{key_file}" },
    ],
  },
  kubeconfig: {
    description: "Access to a Kubernetes cluster",
    fields: { config: { description: "The kubeconfig; used as a file", env: [] } },
    files: () => [{ variable: "KUBECONFIG", field: "config", value: "{config}" }],
  },
  sentry_token: single("Token for Sentry's API and sentry-cli", "token", "SENTRY_AUTH_TOKEN"),
  linear_token: single("API key of Linear", "token", "LINEAR_API_KEY"),
  slack_bot_token: single("Bot token of a Slack app (xoxb-…)", "token", "SLACK_BOT_TOKEN"),
  discord_bot_token: single("Bot token of a Discord app", "token", "DISCORD_BOT_TOKEN"),
  notion_token: single("Token of a Notion integration", "token", "NOTION_TOKEN"),
  mintlify_token: single("Admin API key of Mintlify", "token", "MINTLIFY_API_KEY"),
  npm_token: single("Token of the npm registry", "token", "NPM_TOKEN", "NODE_AUTH_TOKEN"),
  stripe_key: single("Secret API key of Stripe", "key", "STRIPE_API_KEY", "STRIPE_SECRET_KEY"),
  cloudflare_token: single("API token of Cloudflare", "token", "CLOUDFLARE_API_TOKEN"),
  vercel_token: single("Token for Vercel's API and the vercel command", "token", "VERCEL_TOKEN"),
  database_url: single("Address of a database, its password included", "url", "DATABASE_URL"),
};

/** Nothing of the OS user's own ssh setup is used, and nobody is asked. */
function sshCommand(hostsAreKnown: boolean): FileVariable {
  const hosts = hostsAreKnown
    ? "-o StrictHostKeyChecking=yes -o UserKnownHostsFile='{known_hosts}'"
    : "-o StrictHostKeyChecking=accept-new";
  const value = `ssh -F none -i '{private_key}' -o IdentitiesOnly=yes -o BatchMode=yes ${hosts}`;
  return { variable: "GIT_SSH_COMMAND", field: "command", value };
}
