import type { Context } from "../context.ts";
import type { AlCommand, Commands, Define } from "../help/al-command.ts";
import { wholeNumber } from "../options.ts";
import type { StartOptions } from "../start/run-scheduler.ts";

const raise: Define = (command) =>
  command
    .description(
      "add to the limits of the project, an agent or one run until the day or month turns",
    )
    .argument("<scope>", '"project", an agent\'s name, or the instance id of one run')
    .argument("<usd>", "what is added, in USD")
    .examples(
      "al budget raise project 20",
      "al budget raise triage 5",
      "al budget raise triage-k3v9q2xa 0.5",
    )
    .does(async () => (await import("../operator/control.ts")).raiseBudget);

const test: Define = (command) =>
  withFixture(command)
    .description(
      "show which agents a payload would start and why not the others; needs no scheduler",
    )
    .examples("al webhook test issue-opened.json --source github --event issues")
    .does(async () => (await import("../webhook/test-webhook.ts")).testWebhook);

const send: Define = (command) =>
  withFixture(command)
    .description("sign a payload with the stored secret and post it to the running gateway")
    .option("--url <url>", "address of a gateway instead of the running one's")
    .option("--delivery <id>", "the provider's id of the delivery instead of a new one")
    .examples("al webhook send issue-opened.json -s github -e issues")
    .does(async () => (await import("../webhook/send-webhook.ts")).sendWebhook);

const setup: Define = (command) =>
  command
    .description("make a provider's webhooks, or change them to what the agents listen to")
    .argument("<provider>", "github, gitlab, linear or stripe; for others it prints what to enter")
    .argument(
      "[target]",
      "repository, project or Linear team; without it all that agents name as repos",
    )
    .option("-s, --source <source>", "the [webhooks.<source>]; may be left out when there is one")
    .option("--url <url>", "address of the gateway for the provider instead of [gateway].publicUrl")
    .option(
      "--credential <instance>",
      "instance of github_token, gitlab_token, linear_token or stripe_key",
    )
    .option("--print", "make nothing; print what to enter at the provider")
    .examples(
      "al webhook setup github",
      "al webhook setup gitlab acme/website",
      "al webhook setup sentry",
    )
    .exitCodes({ 1: "the provider refused, or its ping was not answered with 200" })
    .does(async () => (await import("../webhook/setup-webhook.ts")).setupWebhook);

/** Commands that start and control a scheduler. */
export const controlCommands = {
  start: (command) =>
    command
      .description("run the project's agents until it is stopped")
      .option("-w, --web-ui", "serve the dashboard")
      .option(
        "-H, --headless",
        "print log lines instead of the live view; the default when the output is not a terminal",
      )
      .option("--port <n>", "TCP port instead of [gateway].port; 0 for any", wholeNumber(0, 65_535))
      .option("--host <address>", "address to listen on instead of [gateway].host")
      .option(
        "--grace <s>",
        "seconds that running runs get when it stops",
        wholeNumber(0, 86_400),
        30,
      )
      .option(
        "--print-systemd",
        "start nothing; print a systemd unit that does it with these options",
      )
      .examples(
        "al start --web-ui",
        "al start -p ~/my-project --port 9000 --grace 120",
        "al start --web-ui --print-systemd > almanac.service",
      )
      .exitCodes({
        0: "stopped by al stop, Ctrl-C or a signal",
        1: "the project can't be started, or the scheduler broke",
        130: "Ctrl-C twice: stopped without waiting",
      })
      .does(() => Promise.resolve(start)),
  open: (command) =>
    command
      .description("open the dashboard in the browser, logged in")
      .option("--print", "print the link instead, which logs in once, within 10 minutes")
      .examples("al open", "al open --print", "ssh server al open --print -p my-project")
      .exitCodes({ 1: "no scheduler is running, or it runs without the dashboard" })
      .does(async () => (await import("../operator/open-dashboard.ts")).openDashboard),
  stop: (command) =>
    command
      .description("stop the scheduler: no new runs, running ones get their grace period")
      .option("--now", "kill running runs instead of waiting for them, as a second Ctrl-C does")
      .examples("al stop", "al stop --now")
      .does(async () => (await import("../operator/control.ts")).stop),
  run: (command) =>
    command
      .description("run an agent now and follow it; the exit code is the run's")
      .argument("<agent>", "the agent to run")
      .option("--prompt <text>", "what to tell the agent")
      .option("-d, --detach", "don't follow it; print its id. Needs a running scheduler")
      .examples("al run triage", "al run triage --prompt 'only issue 42'", "al run triage --detach")
      .exitCodes({
        0: "the run succeeded; with --detach it was started or queued",
        1: "it failed; a run that ends with a code of its own gives that one",
        124: "it reached its timeout",
        130: "interrupted",
        125: "its budget is used up: it was not started, or refused a call to its model",
        137: "it was killed, or ran out of memory",
        143: "the scheduler was stopped; its work is tried once more at the next start",
      })
      .does(async () => (await import("../run/run-agent.ts")).runAgent),
  pause: (command) =>
    command
      .description("pause all schedules or all new work, or disable one agent")
      .argument("[agent]", "the agent to disable; its running runs continue")
      .option(
        "--all-work",
        "pause all new work: webhooks, calls and retries wait until al resume, manual starts are refused; running runs continue",
      )
      .examples("al pause", "al pause --all-work", "al pause triage")
      .does(async () => (await import("../operator/control.ts")).pause),
  resume: (command) =>
    command
      .description("end a pause of all schedules or all new work, or enable one agent")
      .argument("[agent]", "the agent to enable")
      .examples("al resume", "al resume triage")
      .does(async () => (await import("../operator/control.ts")).resume),
  kill: (command) =>
    command
      .description("end the running runs of an agent, one run, or all runs")
      .argument("[agent|instance]", "an agent's name, or the instance id of one run")
      .option("--all", "end all running runs of all agents; their work is not tried again")
      .option("-y, --yes", "don't ask before --all")
      .examples(
        "al kill triage",
        "al kill triage-k3v9q2xa",
        "al pause --all-work && al kill --all --yes",
      )
      .does(async () => (await import("../operator/control.ts")).kill),
  answer: (command) =>
    command
      .description("answer a question of a run; the first answer counts")
      .argument(
        "<question>",
        "its id or a unique end of it, as al questions shows it; or a run with one open question",
      )
      .argument("[answer]", "a choice, text, number, or yes or no; a terminal asks for it")
      .examples("al answer 5ec0ffee yes", "al answer deploy-k3v9q2xa 'only on Monday'")
      .exitCodes({ 1: "no such question, another form, or answered before; the reason is printed" })
      .does(async () => (await import("../operator/people.ts")).answerQuestion),
  steer: (command) =>
    command
      .description("send a message to a run while it works, or end it after its turn")
      .argument("<instance>", "the instance id of a run that has not ended")
      .argument("[text]", "a text for the model, after the tools of its turn")
      .option("--stop", "end the run after its turn, instead of a text")
      .examples(
        "al steer triage-k3v9q2xa 'leave the tests alone'",
        "al steer triage-k3v9q2xa --stop",
      )
      .exitCodes({ 1: "the run takes no message; the reason is printed" })
      .does(async () => (await import("../operator/control.ts")).steer),
  continue: (command) =>
    command
      .description("start a run that continues the session of one that has ended")
      .argument("<instance>", "the instance id of a run that has ended")
      .argument("<text>", "a text for the model")
      .examples("al continue triage-k3v9q2xa 'now open the pull request'")
      .exitCodes({ 1: "the run can't be continued; the reason is printed" })
      .does(async () => (await import("../operator/control.ts")).continueRun),
  budget: (command) =>
    command
      .description("raise what may be spent on models")
      .examples("al budget raise triage 5")
      .inner("raise", raise),
  replay: (command) =>
    command
      .description("run a stored webhook delivery, or the work of a history entry, again")
      .argument(
        "<receiptId|triggerId>",
        "a delivery's receipt or an entry's trigger, as al history names them",
      )
      .option("-a, --agent <agent>", "only this agent, whatever its filters say; for a receipt")
      .examples(
        "al replay 0198c0de-7a11-7000-8000-5ec0ffee0001",
        "al replay 0198c0de-7a11-7000-8000-5ec0ffee0001 --agent triage",
      )
      .exitCodes({
        0: "an agent was started or its run queued",
        1: "nothing ran; the reason is printed",
      })
      .does(async () => (await import("../operator/control.ts")).replay),
  mcp: (command) =>
    command
      .description("serve MCP on standard input and output, for AI assistants on this machine")
      .examples("al mcp -p ~/my-project", "claude mcp add almanac -- al mcp -p ~/my-project")
      .exitCodes({ 0: "the assistant closed its input (over HTTP: /mcp, with an API token)" })
      .does(async () => (await import("../mcp/serve-mcp.ts")).serveMcp),
  webhook: (command) =>
    command
      .description("make webhooks at their providers, and try them out with payloads from files")
      .examples("al webhook setup github", "al webhook test issue-opened.json -e issues")
      .inner("setup", setup)
      .inner("test", test)
      .inner("send", send),
} satisfies Commands;

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

async function start(
  context: Context,
  options: StartOptions & { readonly printSystemd?: true },
): Promise<unknown> {
  if (options.printSystemd) {
    const { printUnit } = await import("../systemd/print-unit.ts");
    return printUnit(context, options);
  }
  const { runScheduler } = await import("../start/run-scheduler.ts");
  return runScheduler(context, options);
}
