import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { agentConfig, plainAgent, runLast, typeSecret } from "./fault.ts";
import type { Fault, TheWard } from "./fault.ts";
import { store } from "./support.ts";

/** Faults of models, credentials, keys and permissions. */
export const secretFaults = (ward: TheWard): readonly Fault[] => [
  {
    name: "a missing script",
    seed: () => rmSync(join(ward().dir, "main.script.toml")),
    repair: () => ward().write("main.script.toml", '[[turns]]\ntext = "done"\n'),
    severity: "error",
    says: /main\.script\.toml is not there/,
    fix: /script in \[models/,
  },
  {
    name: "a missing model key",
    seed: () => ward().edit(agentConfig, '["scripted"]', '["claude"]'),
    severity: "error",
    says: /credential anthropic_key is missing/,
    fix: /^al creds add anthropic_key$/,
    repair: (finding) => typeSecret(ward, finding),
  },
  {
    name: "a missing key of a primary model that another one stands in for",
    seed: () => ward().edit(agentConfig, '["scripted"]', '["claude", "scripted"]'),
    severity: "warning",
    says: /credential anthropic_key is missing/,
    fix: /^al creds add anthropic_key$/,
    repair: (finding) => typeSecret(ward, finding),
  },
  {
    name: "a missing key of a fallback",
    seed: () => ward().edit(agentConfig, '["scripted"]', '["scripted", "claude"]'),
    severity: "warning",
    says: /credential anthropic_key is missing/,
    fix: /^al creds add anthropic_key$/,
    repair: (finding) => typeSecret(ward, finding),
  },
  {
    name: "a harness whose command is not there",
    seed: () =>
      ward().write(
        agentConfig,
        `${plainAgent}\n[harness]\ntype = "llm-cli"\ncommand = "no-such-cli"\n`,
      ),
    severity: "error",
    says: /harness\.command "no-such-cli" is not there/,
    fix: /al config dev --set harness\.command=<path>$/,
    repair: (finding) => {
      ward().write("bin/codex", "#!/bin/sh\n");
      const path = join(ward().dir, "bin/codex");
      chmodSync(path, 0o755);
      return runLast(ward, { ...finding, fix: (finding.fix ?? "").replace("<path>", path) });
    },
  },
  {
    name: "a missing credential of a target of alerts",
    seed: () =>
      ward().edit("config.toml", "[gateway]", '[alerts.ops]\ntype = "telegram"\n\n[gateway]'),
    severity: "error",
    says: /credential telegram_bot is missing/,
    fix: /^al creds add telegram_bot$/,
    repair: async () => {
      await ward().credential("telegram_bot", "token", "123456:secret-0123456789");
      await ward().credential("telegram_bot", "chat", "-100123");
    },
  },
  {
    name: "a missing credential",
    seed: () => rmSync(store(ward(), "github_token"), { recursive: true }),
    severity: "error",
    says: /credential github_token is missing/,
    fix: /^al creds add github_token$/,
    repair: (finding) => typeSecret(ward, finding),
  },
  {
    name: "an empty credential",
    seed: () => writeFileSync(store(ward(), "github_token", "default", "token"), "\n"),
    severity: "error",
    says: /lacks its field token, or it is empty/,
    fix: /^al creds add github_token --replace$/,
    repair: (finding) => typeSecret(ward, finding),
  },
  {
    name: "half of a credential",
    seed: async () => {
      ward().edit(agentConfig, '["github_token"]', '["aws"]');
      await ward().credential("aws", "access_key_id");
    },
    severity: "error",
    says: /lacks its field secret_access_key/,
    fix: /^al creds add aws --field secret_access_key --replace$/,
    repair: (finding) => typeSecret(ward, finding),
  },
  {
    name: "a secret that others can read",
    seed: () => chmodSync(store(ward(), "github_token", "default", "token"), 0o644),
    severity: "error",
    says: /open to other users \(mode 644\)/,
    fix: /^chmod 600 /,
  },
  {
    name: "a credential's directory that others can enter",
    seed: () => chmodSync(store(ward(), "github_token"), 0o755),
    severity: "error",
    says: /open to other users \(mode 755\)/,
    fix: /^chmod 700 /,
  },
  {
    name: "a state directory that others can enter",
    seed: () => {
      mkdirSync(join(ward().dir, ".al"));
      chmodSync(join(ward().dir, ".al"), 0o755);
    },
    severity: "error",
    says: /open to other users \(mode 755\)/,
    fix: /^chmod 700 .+\/\.al$/,
  },
  {
    name: "an agent that everybody can change",
    seed: () => chmodSync(join(ward().dir, agentConfig), 0o666),
    severity: "warning",
    says: /every OS user can change it/,
    fix: /^chmod o-w /,
  },
  {
    name: "a broken API key",
    seed: () => writeFileSync(store(ward(), "gateway_api_key", "default", "key"), "short\n"),
    severity: "error",
    says: /holds no usable key/,
    fix: /^al doctor --regenerate-key$/,
  },
  {
    name: "an API key that others can read",
    seed: () => chmodSync(store(ward(), "gateway_api_key", "default", "key"), 0o644),
    severity: "error",
    says: /open to other users \(mode 644\)/,
    fix: /^chmod 600 .+gateway_api_key/,
  },
  {
    name: "no API key",
    seed: () => rmSync(store(ward(), "gateway_api_key"), { recursive: true }),
    severity: "warning",
    says: /no API key/,
    fix: /^al doctor$/,
  },
  {
    name: "a missing webhook secret",
    seed: () => rmSync(store(ward(), "github_webhook_secret"), { recursive: true }),
    severity: "error",
    says: /credential github_webhook_secret is missing/,
    fix: /^al creds add github_webhook_secret$/,
    repair: (finding) => typeSecret(ward, finding),
  },
];
