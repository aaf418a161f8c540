import { rmSync } from "node:fs";
import { join } from "node:path";
import { edits, editThere, error, warning, type Fault } from "./fault.ts";
import { agentConfig, ward } from "./support.ts";

const remove = (path: string) => () => rmSync(join(ward.dir, path), { recursive: true });

/** Faults in the files that people write. */
export const configFaults: readonly Fault[] = [
  error("not a project", /^al new /, remove("config.toml")),
  error(
    "not valid TOML",
    /^edit config\.toml:\d+:\d+$/,
    edits("port = 0", "port = = 0", "config.toml"),
  ),
  warning(
    /unknown key "prot".+did you mean "port"/,
    /^edit config\.toml:\d+/,
    edits("port = 0", "prot = 0", "config.toml"),
  ),
  warning("no agents", /^al agent new hello/, remove("agents"), ({ fix }) =>
    ward.run(`${fix ?? ""} --model scripted`),
  ),
  error(
    `"My Agent" is not an agent's name`,
    /^edit agents\/My Agent$/,
    () => ward.write("agents/My Agent/config.toml", ""),
    remove("agents/My Agent"),
  ),
  warning(
    "is not an agent: it has a SKILL.md, but no config.toml",
    /^al config bare --add models=\w+ --set callable=true -p /,
    () => ward.write("agents/bare/SKILL.md", "Do it."),
  ),
  error(
    '"every day" is not a cron expression',
    /^edit agents\/dev\/config\.toml:3:12$/,
    edits("0 9 * * 1-5", "every day"),
  ),
  warning(
    "scale = 1: runs of different keys also wait for each other",
    /^al config dev --set scale=2/,
    () => ward.toAgent('[concurrency]\nkey = "{trigger}"'),
  ),
  warning(
    /claude-sonet-4-5.+not in the list.+did you mean "claude-sonnet-4-5".+200,000 tokens/,
    /^al config --set models\.claude\.contextWindow=200000/,
    () => {
      ward.edit("config.toml", '"claude-sonnet-4-5"', '"claude-sonet-4-5"\nauthType = "none"');
      ward.edit(agentConfig, '["scripted"]', '["scripted", "claude"]');
    },
  ),
  warning(
    "hub accepts unsigned deliveries: every client",
    /^edit config\.toml:11:\d+$/,
    edits('credential = "default"', "allowUnsigned = true", "config.toml"),
  ),
  warning(
    "has no credential, so its deliveries are refused",
    /^edit config\.toml:9/,
    () => ward.edit("config.toml", 'credential = "default"\n', ""),
    (finding) => editThere(finding, "[webhooks.hub]", '[webhooks.hub]\ncredential = "default"'),
  ),
];
