import type { Context } from "../context.ts";
import type { Commands, Define } from "../help/al-command.ts";
import { moment, wholeNumber } from "../options.ts";
import type { StartOptions } from "../start/run-scheduler.ts";

const raise: Define = (command) =>
  command
    .description("Raise a budget until the current day or month ends")
    .argument("<scope>", '"project", an agent, or the instance ID of a run')
    .argument("<usd>", "Amount to add, in USD")
    .examples(
      "al budget raise project 20",
      "al budget raise triage 5",
      "al budget raise triage-k3v9q2xa 0.5",
    )
    .does(async () => (await import("../operator/control.ts")).raiseBudget);

const listSessions: Define = (command) =>
  command
    .description("List kept sessions")
    .argument("<agent>", "Agent")
    .argument("[key]", "Only this session key")
    .examples("al session ls helper", "al session ls helper --json")
    .does(async () => (await import("../operator/sessions.ts")).listSessions);

const removeSessions: Define = (command) =>
  command
    .description("Delete kept sessions; a live run goes on, but leaves none")
    .argument("<agent>", "Agent")
    .argument("[key]", "Only this session key")
    .examples("al session rm helper 'octo/site#7'", "al session rm helper")
    .does(async () => (await import("../operator/sessions.ts")).removeSessions);

export const controlCommands = {
  start: (command) =>
    command
      .description("Start the scheduler")
      .option("-w, --web-ui", "Serve the dashboard")
      .option(
        "-H, --headless",
        "Print log lines instead of the live view (default if the output is not a terminal)",
      )
      .option("--port <n>", "TCP port, 0 for any (default: [gateway].port)", wholeNumber(0, 65_535))
      .option("--host <address>", "Address to listen on (default: [gateway].host)")
      .option(
        "--grace <s>",
        "Seconds that running runs get to finish when the scheduler stops",
        wholeNumber(0, 86_400),
        30,
      )
      .option("--print-systemd", "Print a systemd unit with these options instead of starting")
      .examples(
        "al start --web-ui",
        "al start -p ~/my-project --port 9000 --grace 120",
        "al start --web-ui --print-systemd > almanac.service",
      )
      .exitCodes({
        0: "Stopped with al stop, Ctrl-C or a signal",
        1: "The project can't start, or the scheduler failed",
        130: "Stopped without waiting (Ctrl-C twice)",
      })
      .does(() => Promise.resolve(start)),
  open: (command) =>
    command
      .description("Open the dashboard in the browser, logged in")
      .option("--print", "Print a login link instead; it works once, within 10 minutes")
      .examples("al open", "al open --print", "ssh server al open --print -p my-project")
      .exitCodes({ 1: "No scheduler is running, or it runs without the dashboard" })
      .does(async () => (await import("../operator/open-dashboard.ts")).openDashboard),
  stop: (command) =>
    command
      .description("Stop the scheduler after a grace period for running runs")
      .option("--now", "Kill running runs instead of waiting for them, like a second Ctrl-C")
      .examples("al stop", "al stop --now")
      .does(async () => (await import("../operator/control.ts")).stop),
  run: (command) =>
    command
      .description("Run an agent now and follow the run; exits with the run's exit code")
      .argument("<agent>", "Agent to run")
      .option("--prompt <text>", "Prompt for this run")
      .option(
        "-d, --detach",
        "Print the run's ID instead of following it; requires a running scheduler",
      )
      .examples("al run triage", "al run triage --prompt 'only issue 42'", "al run triage --detach")
      .exitCodes({
        0: "The run succeeded; with --detach, it was started or queued",
        1: "The run failed; a run that ends with its own exit code returns that code",
        124: "The run timed out",
        130: "Interrupted",
        125: "Budget used up, or the question of the run was not answered in time",
        137: "The run was killed, or ran out of memory",
        143: "The scheduler was stopped; the work is retried once at the next start",
      })
      .does(async () => (await import("../run/run-agent.ts")).runAgent),
  pause: (command) =>
    command
      .description("Pause all schedules or all new work, or disable one agent")
      .argument("[agent]", "Agent to disable; its running runs continue")
      .option(
        "--all-work",
        "Pause all new work: webhooks, calls and retries wait for al resume, manual starts are refused, running runs continue",
      )
      .examples("al pause", "al pause --all-work", "al pause triage")
      .does(async () => (await import("../operator/control.ts")).pause),
  resume: (command) =>
    command
      .description("Resume schedules and new work, or enable one agent")
      .argument("[agent]", "Agent to enable")
      .examples("al resume", "al resume triage")
      .does(async () => (await import("../operator/control.ts")).resume),
  kill: (command) =>
    command
      .description("Kill one run, all runs of an agent, or all runs")
      .argument("[agent|instance]", "Agent, or the instance ID of a run")
      .option("--all", "Kill all running runs of all agents; their work is not retried")
      .option("-y, --yes", "Don't ask before --all")
      .examples(
        "al kill triage",
        "al kill triage-k3v9q2xa",
        "al pause --all-work && al kill --all --yes",
      )
      .does(async () => (await import("../operator/control.ts")).kill),
  answer: (command) =>
    command
      .description("Answer a run's question; the first answer counts")
      .argument(
        "<question>",
        "Question ID, or a unique end of it, from al questions; or a run or agent with one open question",
      )
      .argument("[answer]", "A choice, text, number, yes or no; prompted for on a terminal")
      .examples("al answer 5ec0ffee yes", "al answer deploy-k3v9q2xa 'only on Monday'")
      .exitCodes({ 1: "The answer was not accepted; the reason is printed" })
      .does(async () => (await import("../operator/people.ts")).answerQuestion),
  steer: (command) =>
    command
      .description("Send a message to a running run, or end the run after its turn")
      .argument("<run>", "Instance ID of a running run; or an agent with one running run")
      .argument("[text]", "Message for the model, delivered after the current turn's tools")
      .option("--stop", "End the run after its turn instead of sending a message")
      .examples(
        "al steer triage-k3v9q2xa 'leave the tests alone'",
        "al steer triage-k3v9q2xa --stop",
      )
      .exitCodes({ 1: "The run accepts no message; the reason is printed" })
      .does(async () => (await import("../operator/steer.ts")).steer),
  continue: (command) =>
    command
      .description("Start a run that continues the session of an ended run")
      .argument("<run>", "Instance ID of an ended run; or an agent with one ended run")
      .argument("<text>", "Message for the model")
      .examples("al continue triage-k3v9q2xa 'now open the pull request'")
      .exitCodes({ 1: "The run can't be continued; the reason is printed" })
      .does(async () => (await import("../operator/steer.ts")).continueRun),
  session: (command) =>
    command
      .description("List and delete the sessions that session keys continue")
      .examples("al session ls helper")
      .inner("ls", listSessions)
      .inner("rm", removeSessions),
  budget: (command) =>
    command
      .description("Raise spending limits")
      .examples("al budget raise triage 5")
      .inner("raise", raise),
  backfill: (command) =>
    command
      .description("Start missed runs of an agent's schedules, one after another")
      .argument("<agent>", "Agent; its due times that were started are left out")
      .option("--since <time>", "First due time: a length such as 1d ago, or a date-time", moment)
      .option("--until <time>", "Last due time, with --since (default: now)", moment)
      .option("--at <time>", "One due time", moment)
      .option("--schedule <name>", "Only of this schedule")
      .option("--dry-run", "Only print which runs would start, and why they were missed")
      .examples(
        "al backfill triage --since 1d --dry-run",
        "al backfill triage --at 2026-11-24T09:00Z",
      )
      .does(async () => (await import("../operator/backfill.ts")).backfill),
  mcp: (command) =>
    command
      .description("Serve MCP on standard input and output, for AI assistants on this machine")
      .examples("al mcp -p ~/my-project", "claude mcp add almanac -- al mcp -p ~/my-project")
      .exitCodes({ 0: "The assistant closed the connection (over HTTP: /mcp, with an API token)" })
      .does(async () => (await import("../mcp/serve-mcp.ts")).serveMcp),
} satisfies Commands;

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
