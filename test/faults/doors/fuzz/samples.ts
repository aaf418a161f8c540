import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Valid files, from which the bad ones are made. */
export const sampleProjects: readonly string[] = [
  `timezone = "Europe/Berlin"
scale = 3
workQueueSize = 20
defaultWaitTimeout = 60
historyRetentionDays = 7
[models.main]
provider = "anthropic"
model = "claude-sonnet-4-5"
thinkingLevel = "low"
[models.play]
provider = "scripted"
script = "play.script.toml"
[gateway]
port = 8080
host = "127.0.0.1"
allowedHosts = ["almanac.lan"]
trustProxy = false
[local]
image = "al-agent:latest"
memory = "1g"
cpus = 1.5
[webhooks.github]
type = "github"
credential = "default"
[webhooks.open]
type = "stripe"
allowUnsigned = true
[alerts.ops]
type = "email"
credential = "smtp:ops"
to = ["ops@example.com"]
quietHours = "22:00-07:00"
[alert]
to = ["ops"]
after = 2
remind = "12h"
noSuccessFor = "never"
[heartbeat]
url = "https://hc-ping.com/x"
`,
  `[models.play]\nprovider = "scripted"\nscript = "play.script.toml"\n[harness]\ntype = "llm-cli"\ncommand = "codex"\n`,
];

export const sampleAgents: readonly string[] = [
  `models = ["main", "play"]
credentials = ["github_token", "my_db:test"]
schedule = "0 9 * * 1-5"
scale = 2
timeout = 600
[[webhooks]]
source = "github"
repos = ["acme/website"]
events = ["issues"]
ignoreBots = true
[[webhooks]]
source = "open"
events = ["charge.failed"]
[hooks]
pre = ["echo hi"]
[params]
labels = ["bug", "question"]
deep = { a = [1, 2, { b = 1979-05-27 }] }
[runtime]
type = "host-user"
run_as = "$USER"
[alert]
noSuccessFor = "48h"
[expect]
returned = true
schema = "out.schema.json"
`,
  `models = ["play"]\ncredentials = []\nschedule = "*/5 * * * *"\ntimezone = "Asia/Tokyo"\ncatchUp = "latest"\n`,
];

export const sampleSkills: readonly string[] = [
  `---
name: Issue triage
description: Labels new issues
license: MIT
compatibility: ">=0.1"
metadata:
  author: somebody
  tags: [a, b]
---
You look after issues. Now: !\`date\`
`,
  "No front matter.\n",
  "---\r\nname: 'x'\r\n---\r\nText\r\n",
];

export const sampleSchemas: readonly string[] = [
  `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "required": ["id"],
  "properties": {
    "id": { "type": "integer", "minimum": 1 },
    "labels": { "type": "array", "items": { "$ref": "#/$defs/label" }, "uniqueItems": true }
  },
  "$defs": { "label": { "type": "string", "pattern": "^[a-z]+$" } },
  "additionalProperties": false
}`,
  '{ "$schema": "http://json-schema.org/draft-07/schema#", "oneOf": [{ "type": "null" }, { "const": 1 }] }',
];

/** A project with one agent, in a folder of its own; the caller removes it. */
export async function makeProject(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "al-fuzz-"));
  const files = {
    "config.toml": sampleProjects[0] ?? "",
    "agents/dev/config.toml": sampleAgents[0] ?? "",
    "agents/dev/SKILL.md": sampleSkills[0] ?? "",
    "agents/dev/out.schema.json": sampleSchemas[0] ?? "",
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), text);
  }
  return dir;
}
