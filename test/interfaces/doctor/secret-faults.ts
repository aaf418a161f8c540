import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { agentConfig, plainAgent, runLast, typeSecret, error, warning } from "./fault.ts";
import type { Fault } from "./fault.ts";
import { store, ward } from "./support.ts";

/** Faults of models, credentials, keys and permissions. */
export const secretFaults: readonly Fault[] = [
  error(
    "a missing script",
    /main\.script\.toml is not there/,
    /script in \[models/,
    () => rmSync(join(ward.dir, "main.script.toml")),
    () => ward.write("main.script.toml", '[[turns]]\ntext = "done"\n'),
  ),
  error(
    "a missing model key",
    /credential anthropic_key is missing/,
    /^al creds add anthropic_key$/,
    () => ward.edit(agentConfig, '["scripted"]', '["claude"]'),
    typeSecret,
  ),
  warning(
    "a missing key of a primary model that another one stands in for",
    /credential anthropic_key is missing/,
    /^al creds add anthropic_key$/,
    () => ward.edit(agentConfig, '["scripted"]', '["claude", "scripted"]'),
    typeSecret,
  ),
  warning(
    "a missing key of a fallback",
    /credential anthropic_key is missing/,
    /^al creds add anthropic_key$/,
    () => ward.edit(agentConfig, '["scripted"]', '["scripted", "claude"]'),
    typeSecret,
  ),
  error(
    "a harness whose command is not there",
    /harness\.command "no-such-cli" is not there/,
    /al config dev --set harness\.command=<path>$/,
    () =>
      ward.write(
        agentConfig,
        `${plainAgent}\n[harness]\ntype = "llm-cli"\ncommand = "no-such-cli"\n`,
      ),
    (finding) => {
      ward.write("bin/codex", "#!/bin/sh\n");
      const path = join(ward.dir, "bin/codex");
      chmodSync(path, 0o755);
      return runLast({ ...finding, fix: (finding.fix ?? "").replace("<path>", path) });
    },
  ),
  error(
    "a missing credential of a target of alerts",
    /credential telegram_bot is missing/,
    /^al creds add telegram_bot$/,
    () => ward.edit("config.toml", "[gateway]", '[alerts.ops]\ntype = "telegram"\n\n[gateway]'),
    async () => {
      await ward.credential("telegram_bot", "token", "123456:secret-0123456789");
      await ward.credential("telegram_bot", "chat", "-100123");
    },
  ),
  error(
    "a missing credential",
    /credential github_token is missing/,
    /^al creds add github_token$/,
    () => rmSync(store("github_token"), { recursive: true }),
    typeSecret,
  ),
  error(
    "an empty credential",
    /lacks its field token, or it is empty/,
    /^al creds add github_token --replace$/,
    () => writeFileSync(store("github_token", "default", "token"), "\n"),
    typeSecret,
  ),
  error(
    "half of a credential",
    /lacks its field secret_access_key/,
    /^al creds add aws --field secret_access_key --replace$/,
    async () => {
      ward.edit(agentConfig, '["github_token"]', '["aws"]');
      await ward.credential("aws", "access_key_id");
    },
    typeSecret,
  ),
  error("a secret that others can read", /open to other users \(mode 644\)/, /^chmod 600 /, () =>
    chmodSync(store("github_token", "default", "token"), 0o644),
  ),
  error(
    "a credential's directory that others can enter",
    /open to other users \(mode 755\)/,
    /^chmod 700 /,
    () => chmodSync(store("github_token"), 0o755),
  ),
  error(
    "a state directory that others can enter",
    /open to other users \(mode 755\)/,
    /^chmod 700 .+\/\.al$/,
    () => {
      mkdirSync(join(ward.dir, ".al"));
      chmodSync(join(ward.dir, ".al"), 0o755);
    },
  ),
  warning("an agent that everybody can change", /every OS user can change it/, /^chmod o-w /, () =>
    chmodSync(join(ward.dir, agentConfig), 0o666),
  ),
  error("a broken API key", /holds no usable key/, /^al doctor --regenerate-key$/, () =>
    writeFileSync(store("gateway_api_key", "default", "key"), "short\n"),
  ),
  error(
    "an API key that others can read",
    /open to other users \(mode 644\)/,
    /^chmod 600 .+gateway_api_key/,
    () => chmodSync(store("gateway_api_key", "default", "key"), 0o644),
  ),
  warning("no API key", /no API key/, /^al doctor$/, () =>
    rmSync(store("gateway_api_key"), { recursive: true }),
  ),
  error(
    "a missing webhook secret",
    /credential github_webhook_secret is missing/,
    /^al creds add github_webhook_secret$/,
    () => rmSync(store("github_webhook_secret"), { recursive: true }),
    typeSecret,
  ),
];
