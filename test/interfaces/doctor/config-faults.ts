import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { agentConfig, edits, editThere, plainAgent } from "./fault.ts";
import type { Fault, TheWard } from "./fault.ts";

/** Faults in the files that people write. */
export const configFaults = (ward: TheWard): readonly Fault[] => [
  {
    name: "no config.toml",
    seed: () => rmSync(join(ward().dir, "config.toml")),
    severity: "error",
    says: /not a project/,
    fix: /^al new /,
  },
  {
    name: "a config.toml that is no TOML",
    ...edits(ward, "port = 0", "port = = 0", "config.toml"),
    severity: "error",
    says: /not valid TOML/,
    fix: /^edit config\.toml:\d+:\d+$/,
  },
  {
    name: "an unknown key",
    ...edits(ward, "port = 0", "prot = 0", "config.toml"),
    severity: "warning",
    says: /unknown key "prot".+did you mean "port"/,
    fix: /^edit config\.toml:\d+/,
  },
  {
    name: "a value of the wrong type",
    ...edits(ward, "port = 0", 'port = "eighty"', "config.toml"),
    severity: "error",
    says: /gateway\.port is "eighty"; expected /,
    fix: /^edit config\.toml:\d+:8$/,
  },
  {
    name: "no agents",
    seed: () => rmSync(join(ward().dir, "agents"), { recursive: true }),
    severity: "warning",
    says: /no agents/,
    fix: /^al agent new hello/,
    repair: async ({ fix }) => {
      const { code, output } = await ward().bash(`${fix ?? ""} --model scripted`);
      expect({ code, output }).toMatchObject({ code: 0 });
    },
  },
  {
    name: "a directory that can't be an agent",
    seed: () => ward().write("agents/My Agent/config.toml", ""),
    repair: () => rmSync(join(ward().dir, "agents/My Agent"), { recursive: true }),
    severity: "error",
    says: /"My Agent" is not an agent's name/,
    fix: /^edit agents\/My Agent$/,
  },
  {
    name: "a missing SKILL.md",
    seed: () => rmSync(join(ward().dir, "agents/dev/SKILL.md")),
    repair: () => ward().write("agents/dev/SKILL.md", "Do it."),
    severity: "error",
    says: /is missing; expected a markdown file/,
    fix: /^edit agents\/dev\/SKILL\.md$/,
  },
  {
    name: "a SKILL.md without config.toml",
    seed: () => ward().write("agents/bare/SKILL.md", "Do it."),
    severity: "warning",
    says: /is not an agent: it has a SKILL\.md, but no config\.toml/,
    fix: /^al config bare -p /,
    repair: async ({ fix }) => {
      const sets = `--set 'models=["scripted"]' --set 'schedule=0 9 * * *'`;
      const { code, output } = await ward().bash(`${fix ?? ""} ${sets}`);
      expect({ code, output }).toMatchObject({ code: 0 });
    },
  },
  {
    name: "a schedule that is none",
    ...edits(ward, "0 9 * * 1-5", "every day"),
    severity: "error",
    says: /"every day" is not a cron expression/,
    fix: /^edit agents\/dev\/config\.toml:3:12$/,
  },
  {
    name: "a schedule that never comes due",
    ...edits(ward, "0 9 * * 1-5", "0 9 30 2 *"),
    severity: "error",
    says: /"0 9 30 2 \*" never comes due/,
    fix: /^edit agents\/dev\/config\.toml:3:12$/,
  },
  {
    name: "a time zone that is none",
    ...edits(ward, "Europe/Berlin", "Europe/Berlim"),
    severity: "error",
    says: /timezone is "Europe\/Berlim"; expected an IANA/,
    fix: /^edit agents\/dev\/config\.toml:4:12$/,
  },
  {
    name: "a harness that there is not",
    ...edits(ward, "[runtime]", '[harness]\ntype = "pie"\n[runtime]'),
    repair: (finding) => editThere(ward, finding, "pie", "pi"),
    severity: "error",
    says: /harness\.type is "pie"; expected .+did you mean "pi"/,
    fix: /^edit agents\/dev\/config\.toml:11:8$/,
  },
  {
    name: "an agent that nothing starts",
    seed: () => ward().write(agentConfig, plainAgent.replace(/^schedule.+$/m, "")),
    repair: (finding) => editThere(ward, finding, "models = ", 'schedule = "0 9 * * *"\nmodels = '),
    severity: "error",
    says: /neither schedule nor webhooks/,
    fix: /^edit agents\/dev\/config\.toml/,
  },
  {
    name: "a model that is not defined",
    ...edits(ward, '["scripted"]', '["scriptd"]'),
    severity: "error",
    says: /model "scriptd" is not defined.+did you mean "scripted"/,
    fix: /^edit agents\/dev\/config\.toml:1:11$/,
  },
  {
    name: "a model that is in no list",
    seed: () => {
      ward().edit("config.toml", '"claude-sonnet-4-5"', '"claude-sonet-4-5"\nauthType = "none"');
      ward().edit(agentConfig, '["scripted"]', '["scripted", "claude"]');
    },
    severity: "warning",
    says: /claude-sonet-4-5.+not in the list.+did you mean "claude-sonnet-4-5".+200,000 tokens/,
    fix: /^al config --set models\.claude\.contextWindow=200000/,
  },
  {
    name: "a filter that the source does not have",
    ...edits(ward, 'events = ["issues"]', 'evnts = ["issues"]'),
    severity: "error",
    says: /"evnts" is not a filter of github webhooks.+did you mean "events"/,
    fix: /^edit agents\/dev\/config\.toml:8:1$/,
  },
  {
    name: "a webhook source that is not defined",
    ...edits(ward, 'source = "hub"', 'source = "hbu"'),
    severity: "error",
    says: /"hbu" is not a webhook source.+did you mean "hub"/,
    fix: /^edit agents\/dev\/config\.toml:7:10$/,
  },
  {
    name: "a source that takes unsigned deliveries",
    ...edits(ward, 'credential = "default"', "allowUnsigned = true", "config.toml"),
    severity: "warning",
    says: /hub takes unsigned deliveries: every client/,
    fix: /^edit config\.toml:11:\d+$/,
  },
  {
    name: "a source that takes no delivery",
    ...edits(ward, 'credential = "default"\n', "", "config.toml"),
    repair: (finding) =>
      editThere(ward, finding, "[webhooks.hub]", '[webhooks.hub]\ncredential = "default"'),
    severity: "warning",
    says: /has no credential, so its deliveries are refused/,
    fix: /^edit config\.toml:9/,
  },
];
