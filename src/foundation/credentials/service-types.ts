import { githubAppType } from "../contracts/credential-reference.ts";
import { appTypes } from "./app-types.ts";
import { field, single } from "./credential-type.ts";
import type { CredentialType, FileVariable, GitLogin } from "./credential-type.ts";

/**
 * Public host keys of the usual git hosts, as lines of a known_hosts file. The fingerprints are those that the hosts
 * publish: docs.github.com "GitHub's SSH key fingerprints", docs.gitlab.com "SSH host keys fingerprints" of GitLab.com,
 * support.atlassian.com "Configure SSH and two-step verification" of Bitbucket Cloud, docs.codeberg.org "Verifying
 * you're connected to Codeberg using SSH fingerprints". The test beside compares them.
 */
export const usualKnownHosts = [
  "github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl",
  "github.com ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7opKgwFB9nkt5YRrYMjNuG5N87uRgg6CLrbo5wAdT/y6v0mKV0U2w0WZ2YB/++Tpockg=",
  "gitlab.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAfuCHKVTjquxvt6CM6tdG4SLp1Btn/nOeHHE5UOzRdf",
  "gitlab.com ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBFSMqzJeV9rUzU4kWitGjeR4PWSa29SPqJ1fVkhtj3Hw9xjLVXVYrU9QlYWrOLXBpQ6KWjbjTDTdDkoohFzgbEY=",
  "bitbucket.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIazEu89wgQZ4bqs3d63QSMzYVa0MuJ2e2gKTKqu+UUO",
  "bitbucket.org ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBPIQmuzMBuKdWeF4+a2sjSSpBK0iqitSQ+5BM9KhpexuGt20JpTVM7u5BDZngncgrqDMbWdxMWWOGtZ9UgbqgZE=",
  "codeberg.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIVIC02vnjFyL+I4RHfvIGNtOgJMe769VTF1VR4EB3ZB",
  "codeberg.org ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBL2pDxWr18SoiDJCGZ5LmxPygTlPu+cCKSkpqkvCyQzl5xmIMeKNdfdBpfbCGDPoZQghePzFZkKJNR/v9Win3Sc=",
].join("\n");

const eachGit = (name: string) => [`GIT_AUTHOR_${name}`, `GIT_COMMITTER_${name}`];
const identity = {
  name: field("Name in commits", eachGit("NAME"), "optional", "open"),
  email: field("E-mail address in commits", eachGit("EMAIL"), "optional", "open"),
};
const awsRegion = ["AWS_REGION", "AWS_DEFAULT_REGION"];
const eachMintlify = ["MINTLIFY_API_KEY", "MINTLIFY_API_TOKEN"];

const githubToken = gitHost({
  description: "Token for GitHub's API, git over HTTPS and the gh command",
  env: ["GITHUB_TOKEN", "GH_TOKEN"],
  hostVariable: "GH_HOST",
  git: { host: "github.com", username: "x-access-token" },
  presets: ["github"],
  hosts: ["github.com", "api.github.com", "uploads.github.com"],
});

/** Credentials of the services that agents work with. Variables are the ones that the services' own tools read. */
export const serviceTypes: Readonly<Record<string, CredentialType>> = {
  github_token: githubToken,
  [githubAppType]: {
    ...githubToken,
    description: "GitHub App; its runs get short-lived tokens that the scheduler mints",
    fields: {
      app_id: field("App ID or client ID, from the app's page", ["GITHUB_APP_ID"], "open"),
      private_key: field("Private key, a .pem file from the app's page", []),
      api_url: field(
        "API address of GitHub Enterprise, such as https://github.acme.com/api/v3",
        ["GITHUB_APP_API_URL"],
        "optional",
        "open",
      ),
      name: field("Name in commits", ["GITHUB_APP_NAME"], "optional", "open"),
      email: field("E-mail address in commits", ["GITHUB_APP_EMAIL"], "optional", "open"),
    },
    inRun: { ...githubToken.fields, ...identity },
  },
  gitlab_token: gitHost({
    description: "Token for GitLab's API, git over HTTPS and the glab command",
    env: ["GITLAB_TOKEN"],
    hostVariable: "GITLAB_HOST",
    git: { host: "gitlab.com", username: "oauth2" },
    presets: ["gitlab"],
    hosts: ["gitlab.com"],
  }),
  git_ssh: {
    description: "Identity for git over SSH",
    fields: {
      private_key: field("Private key without a passphrase; used as a file", []),
      known_hosts: field(
        "Host keys, one per line, of hosts other than the usual ones; if absent, the first key of such a host is accepted",
        [],
        "optional",
        "open",
      ),
      ...identity,
    },
    files: (has) => [sshCommand(has("known_hosts"))],
    texts: { usual_hosts: usualKnownHosts, accepted_hosts: "" },
    presets: ["github", "gitlab", "bitbucket"],
  },
  aws: {
    description: "Access key for AWS",
    fields: {
      access_key_id: field("Access key ID", ["AWS_ACCESS_KEY_ID"]),
      secret_access_key: field("Secret access key", ["AWS_SECRET_ACCESS_KEY"]),
      session_token: field("Session token of temporary keys", ["AWS_SESSION_TOKEN"], "optional"),
      region: field("Region, such as eu-central-1", awsRegion, "optional", "open"),
    },
    presets: ["aws"],
  },
  gcp_service_account: {
    description: "Service account of Google Cloud",
    fields: { key_file: field("The account's JSON key; used as a file", []) },
    files: () => [
      { variable: "GOOGLE_APPLICATION_CREDENTIALS", field: "key_file", value: "{key_file}" },
    ],
    presets: ["gcp"],
  },
  kubeconfig: {
    description: "Access to a Kubernetes cluster",
    fields: { config: field("The kubeconfig; used as a file", []) },
    files: () => [{ variable: "KUBECONFIG", field: "config", value: "{config}" }],
  },
  sentry_token: {
    ...single("Token for Sentry's API and sentry-cli", "token", "SENTRY_AUTH_TOKEN"),
    presets: ["sentry"],
    hosts: ["sentry.io", "us.sentry.io", "de.sentry.io"],
  },
  linear_token: {
    ...single("API key of Linear", "token", "LINEAR_API_KEY", "LINEAR_API_TOKEN"),
    presets: ["linear"],
    hosts: ["api.linear.app"],
  },
  slack_bot_token: {
    ...single("Bot token of a Slack app (xoxb-…)", "token", "SLACK_BOT_TOKEN"),
    presets: ["slack"],
    hosts: ["slack.com", "files.slack.com"],
  },
  discord_bot_token: {
    ...single("Bot token of a Discord app", "token", "DISCORD_BOT_TOKEN"),
    presets: ["discord"],
    hosts: ["discord.com"],
  },
  notion_token: {
    ...single("Token of a Notion integration", "token", "NOTION_TOKEN"),
    presets: ["notion"],
    hosts: ["api.notion.com"],
  },
  mintlify_token: {
    ...single("Admin API key of Mintlify", "token", ...eachMintlify),
    presets: ["mintlify"],
    hosts: ["api.mintlify.com"],
  },
  bugsnag_token: {
    ...single("Token for Bugsnag's API", "token", "BUGSNAG_AUTH_TOKEN"),
    presets: ["bugsnag"],
    hosts: ["api.bugsnag.com"],
  },
  netlify_token: {
    ...single("Token for Netlify's API", "token", "NETLIFY_AUTH_TOKEN"),
    presets: ["netlify"],
    hosts: ["api.netlify.com"],
  },
  hetzner_api_key: {
    ...single("API key of Hetzner Cloud", "api_key", "HETZNER_API_KEY"),
    presets: ["hetzner"],
    hosts: ["api.hetzner.cloud"],
  },
  vultr_api_key: {
    ...single("API key of Vultr", "api_key", "VULTR_API_KEY"),
    presets: ["vultr"],
    hosts: ["api.vultr.com"],
  },
  npm_token: {
    ...single("Token of the npm registry", "token", "NPM_TOKEN", "NODE_AUTH_TOKEN"),
    presets: ["npm"],
    hosts: ["registry.npmjs.org"],
  },
  stripe_key: {
    ...single("Secret API key of Stripe", "key", "STRIPE_API_KEY", "STRIPE_SECRET_KEY"),
    presets: ["stripe"],
    hosts: ["api.stripe.com"],
  },
  cloudflare_token: {
    ...single("API token of Cloudflare", "token", "CLOUDFLARE_API_TOKEN"),
    presets: ["cloudflare"],
    hosts: ["api.cloudflare.com"],
  },
  vercel_token: {
    ...single("Token for Vercel's API and the vercel command", "token", "VERCEL_TOKEN"),
    presets: ["vercel"],
    hosts: ["api.vercel.com"],
  },
  mcp_token: {
    description: "Token for an MCP server over HTTP",
    fields: {
      token: field("Token", []),
      header: field(
        "Header for the token alone, such as x-api-key (default: Authorization: Bearer)",
        [],
        "optional",
        "open",
      ),
    },
  },
  ...appTypes,
  database_url: single("Address of a database, its password included", "url", "DATABASE_URL"),
};

/** The OS user's own ssh setup is ignored, and no question is asked. Unknown host keys are accepted for the run only. */
function sshCommand(hostsAreKnown: boolean): FileVariable {
  const hosts = hostsAreKnown
    ? "-o StrictHostKeyChecking=yes -o UserKnownHostsFile='{known_hosts}'"
    : "-o StrictHostKeyChecking=accept-new -o UserKnownHostsFile='{accepted_hosts}'";
  const value = `ssh -F none -i '{private_key}' -o IdentitiesOnly=yes -o BatchMode=yes -o GlobalKnownHostsFile='{usual_hosts} /etc/ssh/ssh_known_hosts' ${hosts}`;
  return { variable: "GIT_SSH_COMMAND", field: "command", value };
}

interface GitHostOptions extends Pick<CredentialType, "description" | "presets" | "hosts"> {
  readonly env: readonly string[];
  /** Variable that tells the host's own tool the host. */
  readonly hostVariable: string;
  readonly git: GitLogin;
}

/** The token of a git host, which companies also run on their own hosts. */
function gitHost({ env, hostVariable, ...type }: GitHostOptions): CredentialType {
  const { description, git } = type;
  const host = `Host of your own installation, without https:// (default: ${git.host})`;
  return {
    ...type,
    fields: {
      token: field(description, env),
      host: field(host, [hostVariable], "optional", "open"),
    },
  };
}
