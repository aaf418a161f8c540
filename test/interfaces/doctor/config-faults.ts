import { rmSync } from "node:fs";
import { join } from "node:path";
import { agentConfig, edits, editThere, error, warning, type Fault } from "./fault.ts";
import { ward } from "./support.ts";

/** Faults in the files that people write. */
export const configFaults: readonly Fault[] = [
  error("no config.toml", /not a project/, /^al new /, () => rmSync(join(ward.dir, "config.toml"))),
  error(
    "a config.toml that is no TOML",
    /not valid TOML/,
    /^edit config\.toml:\d+:\d+$/,
    edits("port = 0", "port = = 0", "config.toml"),
  ),
  warning(
    "an unknown key",
    /unknown key "prot".+did you mean "port"/,
    /^edit config\.toml:\d+/,
    edits("port = 0", "prot = 0", "config.toml"),
  ),
  warning(
    "no agents",
    /no agents/,
    /^al agent new hello/,
    () => rmSync(join(ward.dir, "agents"), { recursive: true }),
    ({ fix }) => ward.run(`${fix ?? ""} --model scripted`),
  ),
  error(
    "a directory that can't be an agent",
    /"My Agent" is not an agent's name/,
    /^edit agents\/My Agent$/,
    () => ward.write("agents/My Agent/config.toml", ""),
    () => rmSync(join(ward.dir, "agents/My Agent"), { recursive: true }),
  ),
  error(
    "a missing SKILL.md",
    /is missing; expected a markdown file/,
    /^edit agents\/dev\/SKILL\.md$/,
    () => rmSync(join(ward.dir, "agents/dev/SKILL.md")),
    () => ward.write("agents/dev/SKILL.md", "Do it."),
  ),
  warning(
    "a SKILL.md without config.toml",
    /is not an agent: it has a SKILL\.md, but no config\.toml/,
    /^al config bare -p /,
    () => ward.write("agents/bare/SKILL.md", "Do it."),
    ({ fix }) => ward.run(`${fix ?? ""} --set 'models=["scripted"]' --set 'schedule=0 9 * * *'`),
  ),
  error(
    "a schedule that is none",
    /"every day" is not a cron expression/,
    /^edit agents\/dev\/config\.toml:3:12$/,
    edits("0 9 * * 1-5", "every day"),
  ),
  warning(
    "a model that is in no list",
    /claude-sonet-4-5.+not in the list.+did you mean "claude-sonnet-4-5".+200,000 tokens/,
    /^al config --set models\.claude\.contextWindow=200000/,
    () => {
      ward.edit("config.toml", '"claude-sonnet-4-5"', '"claude-sonet-4-5"\nauthType = "none"');
      ward.edit(agentConfig, '["scripted"]', '["scripted", "claude"]');
    },
  ),
  warning(
    "a source that takes unsigned deliveries",
    /hub takes unsigned deliveries: every client/,
    /^edit config\.toml:11:\d+$/,
    edits('credential = "default"', "allowUnsigned = true", "config.toml"),
  ),
  warning(
    "a source that takes no delivery",
    /has no credential, so its deliveries are refused/,
    /^edit config\.toml:9/,
    edits('credential = "default"\n', "", "config.toml"),
    (finding) => editThere(finding, "[webhooks.hub]", '[webhooks.hub]\ncredential = "default"'),
  ),
];
