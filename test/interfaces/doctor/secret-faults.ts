import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lacks, plainAgent, runLast, typeSecret, error, warning, type Fault } from "./fault.ts";
import { agentConfig, store, ward } from "./support.ts";

const models = (names: string) => () => ward.edit(agentConfig, '["scripted"]', names);
const remove = (type: string) => () => rmSync(store(type), { recursive: true });
const token = ["github_token", "default", "token"] as const;
const open = (path: () => string, mode: number, fix: RegExp) =>
  error(`open to other users (mode ${mode.toString(8)})`, fix, () => chmodSync(path(), mode));

/** Faults of models, credentials, keys and permissions. */
export const secretFaults: readonly Fault[] = [
  error(
    "main.script.toml is not there",
    /script in \[models/,
    () => rmSync(join(ward.dir, "main.script.toml")),
    () => ward.write("main.script.toml", '[[turns]]\ntext = "done"\n'),
  ),
  lacks("anthropic_key", models('["claude"]')),
  // Another model stands in for it.
  lacks("anthropic_key", models('["claude", "scripted"]'), "warning"),
  lacks("anthropic_key", models('["scripted", "claude"]'), "warning"),
  lacks("github_token", remove("github_token")),
  lacks("github_webhook_secret", remove("github_webhook_secret")),
  {
    ...lacks("telegram_bot", () => ward.toProject('[alerts.ops]\ntype = "telegram"')),
    repair: async () => {
      await ward.credential("telegram_bot", "token", "123456:secret-0123456789");
      await ward.credential("telegram_bot", "chat", "-100123");
    },
  },
  error(
    "lacks its field token, or it is empty",
    /^al creds add github_token --replace$/,
    () => writeFileSync(store(...token), "\n"),
    typeSecret,
  ),
  error(
    "lacks its field secret_access_key",
    /^al creds add aws --field secret_access_key --replace$/,
    async () => {
      ward.edit(agentConfig, '["github_token"]', '["aws"]');
      await ward.credential("aws", "access_key_id");
    },
    typeSecret,
  ),
  error(
    'harness.command "no-such-cli" is not there',
    /al config dev --set harness\.command=<path>$/,
    () =>
      ward.write(
        agentConfig,
        `${plainAgent}\n[harness]\ntype = "llm-cli"\ncommand = "no-such-cli"\n`,
      ),
    (finding) => {
      const path = join(ward.dir, "bin/codex");
      ward.write("bin/codex", "#!/bin/sh\n");
      chmodSync(path, 0o755);
      return runLast({ ...finding, fix: (finding.fix ?? "").replace("<path>", path) });
    },
  ),
  open(() => store(...token), 0o644, /^chmod 600 /),
  open(() => store("github_token"), 0o755, /^chmod 700 /),
  open(
    () => {
      const state = join(ward.dir, ".al");
      mkdirSync(state);
      return state;
    },
    0o755,
    /^chmod 700 .+\/\.al$/,
  ),
  warning("every OS user can change it", /^chmod o-w /, () =>
    chmodSync(join(ward.dir, agentConfig), 0o666),
  ),
  error("contains no usable key", /^al doctor --regenerate-key$/, () =>
    writeFileSync(store("gateway_api_key", "default", "key"), "short\n"),
  ),
  warning("no API key", /^al doctor$/, remove("gateway_api_key")),
];
