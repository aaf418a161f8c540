import { runtimeTypes } from "../../../../streams/runtimes.ts";
import type { Commands, Define } from "../help/al-command.ts";
import { severalTexts, starterProviders, wholeNumber } from "../options.ts";
import { scopes, tokenLimits } from "../../../foundation/contracts/scopes.ts";

const listAgents: Define = (command) =>
  command
    .description("list the agents with their state, tags and title")
    .examples("al agent ls", "al agent ls --json")
    .does(async () => (await import("../agent/agents.ts")).listAgents);

const removeAgent: Define = (command) =>
  command
    .description("remove an agent's directory; its history and logs stay")
    .argument("<agent>", "the agent; it must have no live run")
    .option("-y, --yes", "don't ask")
    .examples("al agent rm triage", "al agent rm triage --yes")
    .does(async () => (await import("../agent/agents.ts")).removeAgent);

const newAgent: Define = (command) =>
  command
    .description("make an agent; on a terminal it asks for what no flag says")
    .argument("[name]", "its name; its directory is agents/<name>")
    .option("-d, --description <text>", "what it does, in a sentence")
    .option("-m, --model <model>", "a model of the project; several: in order", severalTexts, [])
    .option("--schedule <cron>", "when it runs, as a cron expression with five fields")
    .option("--webhook <source>", "a webhook source that starts it", severalTexts, [])
    .option("--callable", "other agents call it or people start it; it needs no other trigger")
    .option("-c, --credential <credential>", "a credential that its runs get", severalTexts, [])
    .option("--timeout <s>", "seconds that a run may take", wholeNumber(1, 2_147_483))
    .choice("--runtime <type>", "where it runs (default: host-user as you)", runtimeTypes)
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
    .description("copy an agent; the copy is disabled until al resume enables it")
    .argument("<agent>", "the agent to copy")
    .argument("<name>", "the copy's name")
    .examples("al agent clone triage triage-next")
    .does(async () => {
      const { connect } = await import("../operator/connect.ts");
      return async (context, name: string, to: string) => {
        const client = await connect(context);
        const answer = await client.perform("POST /api/agents/:name/clone", { name, to });
        context.out.answer(answer, `agents/${to} is a copy of ${name}; al resume ${to} enables it`);
      };
    });

const listCredentials: Define = (command) =>
  command
    .description("list the stored credentials, the variables they set and their files' modes")
    .option("--types", "list the types that the program knows instead")
    .examples("al creds ls", "al creds ls --types")
    .doesAnywhere(async () => (await import("../creds/credentials.ts")).listCredentials);

const addCredential: Define = (command) =>
  command
    .description("store a secret, from a hidden prompt or from standard input")
    .argument("<credential>", "type, or type:instance (al creds ls --types lists the known types)")
    .option("-f, --field <field>", "the field, for a type with several")
    .option("--from-file <path>", "read the secret from this file")
    .option("--replace", "replace a secret that is stored")
    .examples(
      "al creds add anthropic_key",
      "pass show github | al creds add github_token:bot",
      "al creds add git_ssh --field private_key --from-file ~/.ssh/agent_ed25519",
    )
    .doesAnywhere(async () => (await import("../creds/add-credential.ts")).addCredential);

const removeCredential: Define = (command) =>
  command
    .description("remove a credential")
    .argument("<credential>", "type, or type:instance")
    .option("-f, --field <field>", "only this field")
    .option("-y, --yes", "don't ask")
    .examples("al creds rm github_token:bot", "al creds rm git_ssh --field private_key --yes")
    .doesAnywhere(async () => (await import("../creds/credentials.ts")).removeStored);

const newToken: Define = (command) =>
  command
    .description("create an API token and print it; only its hash is stored")
    .argument("<name>", "shown in the audit trail: claude, grafana")
    .requiredOption("--scope <scopes>", `with commas: ${scopes.join(", ")}`)
    .option("--agents <agents>", "the only agents that it may be used for, with commas")
    .option(
      "--days <n>",
      "how long it is valid",
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
    .description("the default: the API tokens, when each was last used, and when it expires")
    .examples("al token ls", "al token ls --json")
    .does(async () => (await import("../operator/tokens.ts")).listTokens);

const removeToken: Define = (command) =>
  command
    .description("remove an API token: requests and streams with it end at once")
    .argument("<name>", "a token's name")
    .examples("al token rm claude")
    .does(async () => (await import("../operator/tokens.ts")).removeToken);

/** Commands that change the files of a project, credentials and API tokens. */
export const projectCommands = {
  new: (command) =>
    command
      .description("make a project that runs at once; on a terminal it asks for what no flag says")
      .argument("<dir>", "the new directory; files that are there are not overwritten")
      .option("-a, --agent <name>", "name of its first agent (default: hello)")
      .choice(
        "--provider <provider>",
        "who serves the model, or local for a server on this machine (default: scripted)",
        starterProviders,
      )
      .option("--model <model>", "the model, as the provider calls it")
      .option("--base-url <url>", "address of a server of your own (provider custom or local)")
      .option("--schedule <cron>", "when the agent runs")
      .option("-y, --yes", "ask nothing, use the defaults")
      .examples(
        "al new my-project",
        "al new my-project --provider anthropic --schedule '0 9 * * 1-5'",
        "al new my-project --provider local --base-url http://localhost:11434/v1",
      )
      .doesAnywhere(async () => (await import("../new/new-project.ts")).newProject),
  agent: (command) =>
    command
      .description("make, list, clone and remove agents")
      .examples("al agent new", "al agent ls", "al agent rm triage")
      .inner("new", newAgent)
      .inner("ls", listAgents)
      .inner("clone", cloneAgent)
      .inner("rm", removeAgent),
  backup: (command) =>
    command
      .description("write the project's database and logs to a file, also while it runs")
      .argument(
        "<file>",
        "the new file, a tar archive with gzip; keep it as safe as .al, it holds deliveries and logs",
      )
      .option("--credentials", "with all stored credentials: keep the file as safe as they are")
      .examples("al backup ~/almanac-$(date +%F).tgz", "al backup ~/all.tgz --credentials")
      .does(async () => (await import("../backup/write-backup.ts")).writeBackup),
  restore: (command) =>
    command
      .description("restore a backup into a project without a database; its runs are tried again")
      .argument("<file>", "a file that al backup wrote")
      .option("--credentials", "restore its credentials, too; those that are stored already stay")
      .examples("al restore ~/almanac-2026-11-26.tgz", "al restore ~/all.tgz --credentials")
      .does(async () => (await import("../backup/restore-backup.ts")).restoreBackup),
  add: (command) =>
    command
      .description(
        "make an agent from a skill in a git repository or a directory, after showing its files",
      )
      .argument(
        "<repo>",
        "https, ssh or file URL, owner/name on GitHub, or a directory such as ./skills",
      )
      .option("-s, --skill <name>", "which one, when the repository has several")
      .option("--name <name>", "name of the agent (default: the skill's)")
      .option("-y, --yes", "don't ask")
      .examples(
        "al add acme/skills --skill triage",
        "al add git@example.com:team/triage.git --name issue-triage",
        "al add ./skills --skill triage --yes",
      )
      .does(async () => (await import("../add/add-skill.ts")).addSkill),
  update: (command) =>
    command
      .description(
        "update agents that came from al add to their newest source, after showing a diff",
      )
      .argument("[agent]", "only this one")
      .option("-y, --yes", "don't ask")
      .option("--check", "show what is new, and change nothing")
      .option("--keep-local", "leave files that were changed here as they are, and update the rest")
      .examples("al update", "al update triage --check", "al update triage --keep-local --yes")
      .exitCodes({
        0: "all are up to date now, or with --check were compared",
        1: "one failed, was declined, or has changes of its own in what changed",
      })
      .does(async () => (await import("../update/update-agents.ts")).updateAgents),
  config: (command) =>
    command
      .description(
        "show or change the project's config.toml, or an agent's; comments and order stay",
      )
      .argument("[agent]", "the agent; without it the project")
      .option("--set <key=value>", "set a key; may be given several times", severalTexts, [])
      .option("--add <key=value>", "add to a list; may be given several times", severalTexts, [])
      .option("--unset <key>", "remove a key; may be given several times", severalTexts, [])
      .choice("--schema <file>", "print the JSON Schema of a kind of config.toml", [
        "project",
        "agent",
      ])
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
      .description("list, add and remove credentials; a secret is never shown")
      .examples("al creds ls", "al creds add anthropic_key")
      .inner("ls", listCredentials)
      .inner("add", addCredential)
      .inner("rm", removeCredential),
  token: (command) =>
    command
      .description("list, create and remove tokens of the HTTP API, each with its own scopes")
      .examples("al token", "al token new claude --scope read,trigger", "al token rm claude")
      .inner("ls", listTokens, { isDefault: true })
      .inner("new", newToken)
      .inner("rm", removeToken),
} satisfies Commands;
