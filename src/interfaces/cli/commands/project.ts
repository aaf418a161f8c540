import { runtimeTypes } from "../../../../streams/runtimes.ts";
import type { Commands, Define } from "../help/al-command.ts";
import { severalTexts, starterProviders, wholeNumber } from "../options.ts";
import { scopes, tokenLimits } from "../../../foundation/contracts/scopes.ts";

const listAgents: Define = (command) =>
  command
    .description("List the agents with their state, tags and title")
    .examples("al agent ls", "al agent ls --json")
    .does(async () => (await import("../agent/agents.ts")).listAgents);

const removeAgent: Define = (command) =>
  command
    .description("Remove an agent's directory; its history and logs are kept")
    .argument("<agent>", "Agent to remove; it must have no running run")
    .option("-y, --yes", "Don't ask")
    .examples("al agent rm triage", "al agent rm triage --yes")
    .does(async () => (await import("../agent/agents.ts")).removeAgent);

const newAgent: Define = (command) =>
  command
    .description("Create an agent; prompts for anything you don't pass as an option")
    .argument("[name]", "Name of the agent and of its directory in agents/")
    .option("-d, --description <text>", "Description of the agent, in one sentence")
    .option(
      "-m, --model <model>",
      "Model of the project; repeat for fallbacks, in order",
      severalTexts,
      [],
    )
    .option("--schedule <cron>", "Cron expression with five fields")
    .option(
      "--webhook <source>",
      "Webhook source that starts the agent; repeatable",
      severalTexts,
      [],
    )
    .option("--callable", "No trigger: other agents call it, or people start it")
    .option(
      "-c, --credential <credential>",
      "Credential for its runs; repeatable",
      severalTexts,
      [],
    )
    .option("--timeout <s>", "Maximum seconds per run", wholeNumber(1, 2_147_483))
    .choice("--runtime <type>", "Where it runs (default: host-user as you)", runtimeTypes)
    .option("--run-as <user>", 'OS user of a host-user agent (default: "$USER", which is you)')
    .examples(
      "al agent new",
      "al agent new triage --model claude --webhook github -c github_token",
      "al agent new reviewer --callable",
      "al agent new report --schedule '0 9 * * 1-5' --runtime container",
    )
    .does(async () => (await import("../agent/new-agent.ts")).newAgent);

const cloneAgent: Define = (command) =>
  command
    .description("Copy an agent; the copy stays disabled until you enable it with al resume")
    .argument("<agent>", "Agent to copy")
    .argument("<name>", "Name of the copy")
    .examples("al agent clone triage triage-next")
    .does(async () => {
      const { connect } = await import("../operator/connect.ts");
      return async (context, name: string, to: string) => {
        const client = await connect(context);
        const answer = await client.perform("POST /api/agents/:name/clone", { name, to });
        context.out.answer(answer, `agents/${to} is a copy of ${name}; al resume ${to} enables it`);
      };
    });

const startNow: Define = (command) =>
  command
    .description("Start the run of an agent's gathering deliveries now, before [debounce] does")
    .argument("<agent>", "Agent with gathering deliveries, as al stat shows them")
    .examples("al agent start-now review")
    .does(async () => (await import("../operator/control.ts")).startNow);

const listCredentials: Define = (command) =>
  command
    .description("List stored credentials, the variables they set, and the modes of their files")
    .option("--types", "List the known credential types instead")
    .examples("al creds ls", "al creds ls --types")
    .doesAnywhere(async () => (await import("../creds/credentials.ts")).listCredentials);

const addCredential: Define = (command) =>
  command
    .description("Store a secret from a hidden prompt or standard input")
    .argument("<credential>", "type, or type:instance (al creds ls --types lists known types)")
    .option("-f, --field <field>", "Field, for types with several")
    .option("--from-file <path>", "Read the secret from this file")
    .option("--replace", "Replace a stored secret")
    .examples(
      "al creds add anthropic_key",
      "pass show github | al creds add github_token:bot",
      "al creds add git_ssh --field private_key --from-file ~/.ssh/agent_ed25519",
    )
    .doesAnywhere(async () => (await import("../creds/add-credential.ts")).addCredential);

const removeCredential: Define = (command) =>
  command
    .description("Remove a credential")
    .argument("<credential>", "type, or type:instance")
    .option("-f, --field <field>", "Only this field")
    .option("-y, --yes", "Don't ask")
    .examples("al creds rm github_token:bot", "al creds rm git_ssh --field private_key --yes")
    .doesAnywhere(async () => (await import("../creds/credentials.ts")).removeStored);

const newToken: Define = (command) =>
  command
    .description("Create an API token and print it; only its hash is stored")
    .argument("<name>", "Name, as the audit trail shows it: claude, grafana")
    .requiredOption("--scope <scopes>", `with commas: ${scopes.join(", ")}`)
    .option("--agents <agents>", "Limit the token to these agents, separated by commas")
    .option(
      "--days <n>",
      "How long the token is valid, in days",
      wholeNumber(1, tokenLimits.maxDays),
      tokenLimits.defaultDays,
    )
    .examples(
      "al token new grafana --scope read",
      "al token new claude --scope read,trigger --agents triage --days 30",
    )
    .does(async () => (await import("../operator/tokens.ts")).newToken);

const listTokens: Define = (command) =>
  command
    .description("List API tokens with last use and expiry (default)")
    .examples("al token ls", "al token ls --json")
    .does(async () => (await import("../operator/tokens.ts")).listTokens);

const removeToken: Define = (command) =>
  command
    .description("Remove an API token; its requests and streams end immediately")
    .argument("<name>", "Name of the token")
    .examples("al token rm claude")
    .does(async () => (await import("../operator/tokens.ts")).removeToken);

/** Commands that change the files of a project, credentials and API tokens. */
export const projectCommands = {
  new: (command) =>
    command
      .description("Create a project; prompts for anything you don't pass as an option")
      .argument("<dir>", "New directory; existing files are not overwritten")
      .option("-a, --agent <name>", "Name of the first agent (default: hello)")
      .choice(
        "--provider <provider>",
        "Model provider, or local for a server on this machine (default: scripted)",
        starterProviders,
      )
      .option("--model <model>", "The provider's model ID")
      .option("--base-url <url>", "Address of your own server (provider custom or local)")
      .option("--schedule <cron>", "Cron expression for the agent")
      .option("-y, --yes", "Don't ask; use the defaults")
      .examples(
        "al new my-project",
        "al new my-project --provider anthropic --schedule '0 9 * * 1-5'",
        "al new my-project --provider local --base-url http://localhost:11434/v1",
      )
      .doesAnywhere(async () => (await import("../new/new-project.ts")).newProject),
  agent: (command) =>
    command
      .description("Create, list, clone and remove agents, and start gathered deliveries")
      .examples("al agent new", "al agent ls", "al agent rm triage")
      .inner("new", newAgent)
      .inner("ls", listAgents)
      .inner("clone", cloneAgent)
      .inner("start-now", startNow)
      .inner("rm", removeAgent),
  backup: (command) =>
    command
      .description(
        "Write the project's database, logs and kept files to a file, even while the scheduler runs",
      )
      .argument(
        "<file>",
        "New file, a tar archive with gzip; it contains deliveries and logs, so keep it as safe as .al",
      )
      .option("--credentials", "Include all stored credentials; keep the file as safe as they are")
      .examples("al backup ~/almanac-$(date +%F).tgz", "al backup ~/all.tgz --credentials")
      .does(async () => (await import("../backup/write-backup.ts")).writeBackup),
  restore: (command) =>
    command
      .description("Restore a backup into a project without a database; its open runs are retried")
      .argument("<file>", "File written by al backup")
      .option("--credentials", "Also restore credentials; stored ones are not overwritten")
      .examples("al restore ~/almanac-2026-11-26.tgz", "al restore ~/all.tgz --credentials")
      .does(async () => (await import("../backup/restore-backup.ts")).restoreBackup),
  add: (command) =>
    command
      .description(
        "Create an agent from a skill in a git repository or a directory, after showing its files",
      )
      .argument(
        "<repo>",
        "https, ssh or file URL, owner/name on GitHub, or a directory such as ./skills",
      )
      .option("-s, --skill <name>", "Skill to use if the repository contains several")
      .option("--name <name>", "Name of the agent (default: the skill's name)")
      .option("-y, --yes", "Don't ask")
      .examples(
        "al add acme/skills --skill triage",
        "al add git@example.com:team/triage.git --name issue-triage",
        "al add ./skills --skill triage --yes",
      )
      .does(async () => (await import("../add/add-skill.ts")).addSkill),
  update: (command) =>
    command
      .description("Update agents that were created with al add, after showing a diff")
      .argument("[agent]", "Only this agent")
      .option("-y, --yes", "Don't ask")
      .option("--check", "Show what is new without changing anything")
      .option("--keep-local", "Keep files that were changed here, and update the rest")
      .examples("al update", "al update triage --check", "al update triage --keep-local --yes")
      .exitCodes({
        0: "All agents are up to date, or were compared with --check",
        1: "An update failed, was declined, or conflicts with local changes",
      })
      .does(async () => (await import("../update/update-agents.ts")).updateAgents),
  upgrade: (command) =>
    command
      .description("Print how to upgrade Almanac the way it was installed")
      .option("--check", "Print what is known of newer versions; uses no network")
      .examples("al upgrade", "al upgrade --check")
      .does(async () => (await import("../upgrade/upgrade.ts")).printUpgrade),
  config: (command) =>
    command
      .description(
        "Show or change the config.toml of the project or an agent; comments and order are kept",
      )
      .argument("[agent]", "Agent (default: the project)")
      .option("--set <key=value>", "Set a key; repeatable", severalTexts, [])
      .option("--add <key=value>", "Add to a list; repeatable", severalTexts, [])
      .option("--unset <key>", "Remove a key; repeatable", severalTexts, [])
      .choice("--schema <file>", "Print the JSON Schema of a config.toml", ["project", "agent"])
      .examples(
        "al config dev --set 'schedule=0 9 * * 1-5' --set 'models=[\"claude\", \"gpt\"]'",
        "al config --set gateway.port=9000",
        "al config dev --add network.allow=api.example.com",
        "al config dev --unset timeout",
        "al config --schema agent > agent.schema.json",
      )
      .does(async () => (await import("../config/change-config.ts")).changeConfig),
  creds: (command) =>
    command
      .description("List, add and remove credentials; secrets are never shown")
      .examples("al creds ls", "al creds add anthropic_key")
      .inner("ls", listCredentials)
      .inner("add", addCredential)
      .inner("rm", removeCredential),
  token: (command) =>
    command
      .description("List, create and remove tokens for the HTTP API")
      .examples("al token", "al token new claude --scope read,trigger", "al token rm claude")
      .inner("ls", listTokens, { isDefault: true })
      .inner("new", newToken)
      .inner("rm", removeToken),
} satisfies Commands;
