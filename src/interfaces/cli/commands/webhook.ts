import { contextOf } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";
import type { SendOptions } from "../webhook/send-webhook.ts";
import type { FixtureOptions } from "../webhook/webhook-fixture.ts";

/** `al webhook test|send <fixture>` */
export function webhookCommand(): AlCommand {
  return new AlCommand("webhook")
    .description("try out webhooks with payloads from files")
    .examples("al webhook test issue-opened.json -e issues")
    .addCommand(testCommand())
    .addCommand(sendCommand());
}

function testCommand(): AlCommand {
  return withFixture(new AlCommand("test"))
    .description(
      "show which agents a payload would start and why not the others; needs no scheduler",
    )
    .examples("al webhook test issue-opened.json --source github --event issues")
    .action(async (path: string, options: FixtureOptions, command: AlCommand) => {
      const { testWebhook } = await import("../webhook/test-webhook.ts");
      await testWebhook(contextOf(command), path, options);
    });
}

function sendCommand(): AlCommand {
  return withFixture(new AlCommand("send"))
    .description("sign a payload with the stored secret and post it to the running gateway")
    .option("--url <url>", "address of a gateway instead of the running one's")
    .option("--delivery <id>", "the provider's id of the delivery instead of a new one")
    .examples("al webhook send issue-opened.json -s github -e issues")
    .action(async (path: string, options: SendOptions, command: AlCommand) => {
      const { sendWebhook } = await import("../webhook/send-webhook.ts");
      await sendWebhook(contextOf(command), path, options);
    });
}

function withFixture(command: AlCommand): AlCommand {
  return command
    .argument("<fixture>", "file with a payload as the provider sends it")
    .option(
      "-s, --source <source>",
      "the [webhooks.<source>] it is for; may be left out when there is one",
    )
    .option(
      "-e, --event <event>",
      "the event, for providers that name it in a header (github, sentry)",
    );
}
