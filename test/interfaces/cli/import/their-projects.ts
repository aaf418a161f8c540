import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Files by path. */
type Files = Readonly<Record<string, string>>;

/** Writes files below a directory. */
export function writeFiles(dir: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
}

const installsGh = `# Tools of this agent.
#   RUN apk add --no-cache python3

FROM al-agent:latest

USER root
RUN apk add --no-cache github-cli
USER node
`;

/** A project in today's layout: config.toml for each agent, a Dockerfile for all. */
export const currentProject: Files = {
  "README.md": "Our agents.\n",
  Dockerfile: "FROM al-agent:latest\nUSER root\nRUN apk add --no-cache ripgrep\nUSER node\n",
  "config.toml": `# As many as the machine takes.
scale = 20
webhookQueueSize = 50

[models.small]
provider = "openai"
model = "gpt-5-mini"
authType = "api_key"

[models.own]
provider = "anthropic"
model = "claude-sonnet-4-5"
authType = "pi_auth"

[webhooks.hub]
type = "github"
credential = "Acme"

[webhooks.errors]
type = "sentry"

[webhooks.guild]
type = "discord"

[telemetry]
enabled = true
provider = "otel"
`,
  ".env.toml": 'projectName = "ours"\nenvironment = "live"\n\n[local]\nmemory = "2g"\n',
  "shared/style.md": "Short sentences.\n",
  "agents/worker/Dockerfile": installsGh,
  "agents/worker/SKILL.md": `---
name: Worker
description: Works on issues
compatibility: ">=0.9.0"
---

Read the style first.

!\`cat /app/static/shared/style.md\`

Keep the number by setenv ISSUE 7.
`,
  "agents/worker/config.toml": `models = ["small", "own"]
credentials = ["github_token", "git_ssh:bot", "cloudflare_api_token"]
# schedule = "0 * * * *"
scale = 5

[[webhooks]]
source = "hub"
events = ["issues", "issue_comment"]
actions = ["labeled", "created"]
author = "ada"

[params]
label = "ready"
maxAgeHours = 24
limits = { days = 2 }
`,
  "agents/nightly/SKILL.md": "Look at the coverage.\n",
  "agents/nightly/config.toml": `models = ["small"]
credentials = []
schedule = "0 3 * * *"

[runtime]
type = "host-user"
groups = ["docker"]
`,
  "agents/bot/SKILL.md": "Answer in the guild.\n",
  "agents/bot/config.toml": `models = ["small"]
credentials = ["discord_bot"]

[[webhooks]]
source = "guild"
events = ["application_command"]
`,
};

const model = `[model]
provider = "anthropic"
model = "claude-sonnet-4-5"
thinkingLevel = "medium"
authType = "api_key"
`;

/** A directory of agents without a project, each with agent-config.toml and ACTIONS.md, as older documentation has them. */
export const exampleAgents: Files = {
  "index.mdx": "Examples\n",
  "builder/README.mdx": "What it does.\n",
  "builder/agent-config.toml": `credentials = ["github_token", "git_ssh"]
schedule = "0 * * * *"
scale = 4
timeout = 1800

${model}
[[webhooks]]
source = "github"
orgs = ["acme"]
events = ["issues"]
actions = ["labeled"]
labels = ["build"]
author = "ada"

[params]
# Where to look when nothing was sent.
org = "acme"
`,
  "builder/ACTIONS.md": `# Builder

Take the issue for yourself:

\`\`\`
LOCK=$(rlock "github issue $REPO#$NUMBER")
\`\`\`

When you are done: \`runlock "github issue $REPO#$NUMBER"\`
`,
  "triage/README.mdx": "What it does.\n",
  "triage/agent-config.toml": `credentials = ["github_token"]
schedule = "0 * * * *"

[model]
provider = "anthropic"
model = "claude-sonnet-4-5"
thinkingLevel = "xhigh"
authType = "api_key"

[[webhooks]]
source = "github"
events = ["issues"]
actions = ["labeled"]
author = "ada"

[[webhooks]]
source = "github"
events = ["issue_comment"]
actions = ["created"]
author = "ada"
`,
  "triage/ACTIONS.md": "# Triage\n\nAsk what is missing.\n",
  "gardener/README.mdx": "What it does.\n",
  "gardener/agent-config.toml": `# Every quarter of an hour.
credentials = ["reddit_oauth"]
schedule = "*/15 * * * *"

[model]
provider = "anthropic"
model = "claude-haiku-4-5"

[params]
words = [
  "spam",
  "insult",
]
max_age_hours = 24
`,
  "gardener/ACTIONS.md": "# Gardener\n\nRemove what is on the list.\n",
};

/** A project with one agent that nothing starts. */
export const smallProject: Files = {
  "config.toml":
    '[models.main]\nprovider = "anthropic"\nmodel = "claude-sonnet-4-5"\nauthType = "api_key"\n',
  "agents/reporter/SKILL.md": "---\ndescription: Reports\nlicense: MIT\n---\n\nWrite the report.\n",
};

/** A store of credentials as theirs is: other names of fields, and one that everyone may read. */
export const store: Files = {
  "git_ssh/bot/id_rsa": "-----BEGIN KEY-----\nabc\n-----END KEY-----\n",
  "git_ssh/bot/username": "Bot\n",
  "git_ssh/bot/email": "bot@example.com\n",
  "openai_key/default/token": "sk-0123456789\n",
  "github_token/default/token": "ghp_0123456789\n",
  "github_webhook_secret/Acme/secret": "hook-0123456789\n",
  "cloudflare_api_token/default/api_token": "cf-0123456789\n",
  "linear_token/default/token": "of-another-project\n",
};
