import type { AlCommand, Commands, Define } from "../help/al-command.ts";
import { moment } from "../options.ts";

const test: Define = (command) =>
  withFixture(command, "File with a payload as the provider sends it, or ID of a stored receipt")
    .description(
      "Show the attributes of a payload, which agents it would start, how it gathers, and why not the others",
    )
    .examples(
      "al webhook test issue-opened.json --source github --event issues",
      "al webhook test 019a0000-0000-7000-8000-000000000001",
    )
    .does(async () => (await import("../webhook/test-webhook.ts")).testWebhook);

const send: Define = (command) =>
  withFixture(command)
    .description("Sign a payload with the stored secret and send it to the running gateway")
    .option("--url <url>", "Gateway address (default: the running gateway)")
    .option("--delivery <id>", "Delivery ID (default: a new one)")
    .examples("al webhook send issue-opened.json -s github -e issues")
    .does(async () => (await import("../webhook/send-webhook.ts")).sendWebhook);

const setup: Define = (command) =>
  command
    .description("Create a provider's webhooks, or update them to match the agents' filters")
    .argument(
      "<provider>",
      "github, gitlab, linear or stripe; for other providers, prints the values to enter",
    )
    .argument(
      "[target]",
      "Repository, project or Linear team (default: all repos of the agents' filters); with --app, the organization that owns the app",
    )
    .option(
      "-s, --source <source>",
      "Webhook source, [webhooks.<source>]; optional if there is only one",
    )
    .option("--url <url>", "Gateway address for the provider (default: [gateway].publicUrl)")
    .option(
      "--credential <instance>",
      "Instance of github_token, gitlab_token, linear_token or stripe_key; with --app, of the new github_app",
    )
    .option("--app", "Make a GitHub App in the browser, and store its key and webhook secret")
    .option("--print", "Create nothing; print the values to enter at the provider")
    .examples(
      "al webhook setup github",
      "al webhook setup github acme --app",
      "al webhook setup gitlab acme/website",
      "al webhook setup sentry",
    )
    .exitCodes({ 1: "The provider refused, or its ping did not get a 200" })
    .does(async () => (await import("../webhook/setup-webhook.ts")).setupWebhook);

/** Commands that start and control a scheduler. */
export const webhookCommands = {
  replay: (command) =>
    command
      .description("Replay a stored webhook delivery, a history entry, or all unmatched deliveries")
      .argument(
        "[receiptId|triggerId]",
        "Receipt ID of a delivery, or trigger ID of an entry, from al history",
      )
      .option("-a, --agent <agent>", "For a receipt: only this agent, regardless of its filters")
      .option(
        "--unmatched",
        "After you correct a filter: replay each delivery that started nothing and matches an agent now, once",
      )
      .option(
        "--since <when>",
        "With --unmatched: only deliveries since then: 10m, 2h, 3d, or a date and time",
        moment,
      )
      .option("-s, --source <source>", "With --unmatched: only deliveries of this webhook source")
      .option(
        "--dry-run",
        "With --unmatched: list the deliveries and their agents, and start nothing",
      )
      .examples(
        "al replay 0198c0de-7a11-7000-8000-5ec0ffee0001",
        "al replay 0198c0de-7a11-7000-8000-5ec0ffee0001 --agent triage",
        "al replay --unmatched --since 1d --dry-run",
      )
      .exitCodes({
        0: "A run was started or queued",
        1: "Nothing ran; the reason is printed",
      })
      .does(async () => (await import("../operator/replay.ts")).replay),
  webhook: (command) =>
    command
      .description("Set up webhooks at their providers, and test them with payloads from files")
      .examples("al webhook setup github", "al webhook test issue-opened.json -e issues")
      .inner("setup", setup)
      .inner("test", test)
      .inner("send", send),
} satisfies Commands;

const fixtureText = "File with a payload as the provider sends it";

function withFixture(command: AlCommand, text = fixtureText): AlCommand {
  return command
    .argument("<fixture>", text)
    .option(
      "-s, --source <source>",
      "Webhook source, [webhooks.<source>]; optional if there is only one",
    )
    .option(
      "-e, --event <event>",
      "Event, for providers that name it in a header (github, sentry, gitea and others)",
    );
}
