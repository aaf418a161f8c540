import { outcomes } from "../../../../streams/outcomes.ts";
import { deliveryStates } from "../../../features/alerts/rules/alert.ts";
import { searchKinds } from "../../../features/search/search-kinds.ts";
import { auditActs } from "../../../foundation/contracts/audit-acts.ts";
import { spendKeys } from "../../../foundation/contracts/budget.ts";
import { triggerNames } from "../../../../streams/vocabulary.ts";
import type { Commands, Define } from "../help/al-command.ts";
import { moment, momentAhead, wholeNumber } from "../options.ts";

const listAlerts: Define = (command) =>
  command
    .description("List open problems, target status and recent alerts (default)")
    .choice("--state <state>", "Only alerts in this state", deliveryStates)
    .option("--target <target>", "Only alerts to this target")
    .option("-n, --lines <n>", "Number of alerts", wholeNumber(1, 200), 20)
    .examples("al alerts", "al alerts list --state dead", "al alerts list --target ops -n 100")
    .does(async () => (await import("../operator/alerts.ts")).listAlerts);

const testAlert: Define = (command) =>
  command
    .description("Send a test alert; re-enables the target if it succeeds")
    .argument("<target>", "Alert target, [alerts.<name>] in config.toml")
    .examples("al alerts test ops")
    .exitCodes({
      0: "The target accepted the alert",
      1: "The target did not accept the alert; the reason is printed",
    })
    .does(async () => (await import("../operator/alerts.ts")).testTarget);

const retry: Define = (command) =>
  command
    .description("Send an undelivered or waiting alert again now")
    .argument("[id]", "Alert ID, from al alerts")
    .option("--all", "All undelivered alerts")
    .examples("al alerts retry 0198c0de-7a11-4000-8000-5ec0ffee0001", "al alerts retry --all")
    .does(async () => (await import("../operator/alerts.ts")).retryAlerts);

const whose = '"project", or an agent';

const ack: Define = (command) =>
  command
    .description("Acknowledge open alerts: no reminders until they are resolved")
    .argument("<scope>", whose)
    .option("--undo", "Send reminders again")
    .examples("al alerts ack triage", "al alerts ack project --undo")
    .does(async () => (await import("../operator/alerts.ts")).acknowledge);

const snooze: Define = (command) =>
  command
    .description("Pause reminders; one is sent afterwards if the problem persists")
    .argument("<scope>", whose)
    .argument("<time>", "How long: 30m, 4h, 2d, or a date and time", momentAhead)
    .examples("al alerts snooze triage 4h", "al alerts snooze project 2026-12-01T09:00Z")
    .does(async () => (await import("../operator/alerts.ts")).snooze);

/** Commands that show the state of a project. */
export const reportCommands = {
  stat: (command) =>
    command
      .alias("status")
      .description("Show the scheduler and its agents")
      .option("--tag <tag>", "Only agents with this tag")
      .examples("al stat", "al stat --tag web", "al stat -p ~/my-project --json")
      .does(async () => (await import("../operator/show.ts")).showStatus),
  logs: (command) =>
    command
      .description("Show the log of an agent, or of all agents")
      .argument("[agent]", 'Agent, or "scheduler"')
      .option("-f, --follow", "Follow new lines until Ctrl-C")
      .option(
        "-n, --lines <n>",
        "Number of last lines (default: 100); with --grep, number of runs (default: 20)",
        wholeNumber(0, 10_000),
      )
      .option("-i, --instance <instance>", "Only this run")
      .option("--since <when>", "Only lines since then: 10m, 2h, 3d, or a date and time", moment)
      .option("-a, --agent <agent>", "Same as the argument")
      .option(
        "-g, --grep <words>",
        'Only runs with lines that contain all words, "phrases" and prefix*',
      )
      .choice("--outcome <outcome>", "With --grep: only runs with this outcome", outcomes)
      .choice(
        "--kind <kind>",
        "With --grep: only lines of this kind (default: all but prompts)",
        searchKinds,
      )
      .option("--oldest", "With --grep: oldest matches first")
      .examples(
        "al logs -f",
        "al logs triage --since 10m",
        "al logs triage -i triage-k3v9q2xa --json",
        "al logs --grep 'connect timeout' --since 7d",
        "al logs --grep '\"out of memory\"' --kind error --oldest -n 1",
      )
      .does(async () => (await import("../logs/logs.ts")).logs),
  history: (command) =>
    command
      .description("Show triggers and their outcomes, newest first")
      .option("--dead-letter", "Only triggers that never ran: dropped, refused or unmatched")
      .option(
        "--refused",
        "Only triggers that started no run, with the reason; with --agent, also deliveries that its filters excluded",
      )
      .option("-a, --agent <agent>", "Only this agent")
      .choice("--kind <kind>", "Only this type of trigger", Object.values(triggerNames))
      .choice("--outcome <outcome>", "Only this outcome", outcomes)
      .option("--since <when>", "Only triggers since then: 10m, 2h, 3d, or a date and time", moment)
      .option("-n, --lines <n>", "Number of entries", wholeNumber(1, 200), 20)
      .examples(
        "al history",
        "al history --dead-letter --agent triage -n 50",
        "al history --agent triage --refused",
        "al history --kind schedule --outcome failed --since 3d",
      )
      .does(async () => (await import("../operator/show.ts")).showHistory),
  schedule: (command) =>
    command
      .description("Show the next scheduled runs, and those that calendars leave out")
      .argument("[agent]", "The next ten runs of this agent (default: the next run of each agent)")
      .option("--days <n>", "With an agent: all runs of so many days", wholeNumber(1, 366))
      .examples("al schedule", "al schedule reports --days 30", "al schedule reports --json")
      .does(async () => (await import("../operator/schedule.ts")).showSchedule),
  cost: (command) =>
    command
      .description("Show spending on models, the limits, and a forecast for the month")
      .argument("[agent]", "Only this agent")
      .option(
        "--since <when>",
        "Only calls since then: 12h, 7d, or a date and time (default: 30 days)",
        moment,
      )
      .choice("--by <what>", "Group by (default: agent; for one agent: day)", spendKeys)
      .examples("al cost", "al cost --by model --since 7d", "al cost triage --by day")
      .does(async () => (await import("../operator/show.ts")).showCost),
  alerts: (command) =>
    command
      .description("Show open problems and alerts; acknowledge, test and resend them")
      .examples("al alerts", "al alerts ack triage", "al alerts test ops", "al alerts retry --all")
      .inner("list", listAlerts, { isDefault: true })
      .inner("ack", ack)
      .inner("snooze", snooze)
      .inner("test", testAlert)
      .inner("retry", retry),
  questions: (command) =>
    command
      .description("Show questions of runs that wait for a person's answer")
      .option("-a, --agent <agent>", "Only questions of this agent")
      .option("--all", "Include answered and expired questions, and who answered")
      .option("-n, --lines <n>", "Number of questions", wholeNumber(1, 200), 50)
      .examples("al questions", "al questions --all --agent deploy", "al questions --json")
      .does(async () => (await import("../operator/people.ts")).showQuestions),
  audit: (command) =>
    command
      .description(
        "Show who did what: answers, approvals, budget raises, kills, triggers, edits, logins",
      )
      .option("-a, --agent <agent>", "Only actions on this agent and its runs")
      .option(
        "--by <person>",
        "Only actions by this person: a way (key, login, token, link, slack, telegram, terminal, webhook), a name or an address",
      )
      .choice("--act <act>", "Only this action", auditActs)
      .option("--since <when>", "Only actions since then: 10m, 2h, 3d, or a date and time", moment)
      .option("-n, --lines <n>", "Number of actions", wholeNumber(1, 200), 20)
      .examples("al audit", "al audit --since 7d --act approve", "al audit --agent deploy --by Ada")
      .does(async () => (await import("../operator/people.ts")).showAudit),
  show: (command) =>
    command
      .description("Show a run, or what changed since another run")
      .argument("<run>", "Instance ID of a run, from al history; or an agent, for its latest run")
      .option(
        "--diff [instance]",
        "Show changes in config and instructions since a run, or since an agent's latest run (default: the last successful run)",
      )
      .option("--trace", "Show its steps, with the time, tokens and cost of each")
      .option("--prompt", "Show what the model received: instructions, environment and trigger")
      .option("--payload", "Show the payload of its webhook delivery")
      .examples(
        "al show triage-k3v9q2xa",
        "al show triage",
        "al show triage --trace",
        "al show triage-k3v9q2xa --diff",
        "al show triage-k3v9q2xa --diff triage-b7w2m5ra",
        "al show triage-k3v9q2xa --prompt",
      )
      .does(async () => (await import("../operator/show.ts")).showRun),
  files: (command) =>
    command
      .description("List the files that a run left in out/")
      .argument("<run>", "Instance ID of a run, from al history; or an agent, for its latest run")
      .examples("al files report-k3v9q2xa", "al files report --json")
      .does(async () => (await import("../files/list-files.ts")).listFiles),
  get: (command) =>
    command
      .description("Write files that a run left in out/ to this machine")
      .argument("<run>", "Instance ID of a run, from al history; or an agent, for its latest run")
      .argument("[path]", "A file or folder, from al files (default: all files)")
      .option(
        "-o, --output <path>",
        'Where to write: a file, a folder, or "-" to print one file (default: the name of the file, or a folder named like the run)',
      )
      .option("--force", "Overwrite files")
      .examples(
        "al get report-k3v9q2xa report.md",
        "al get report charts -o ./charts --force",
        "al get report-k3v9q2xa report.md -o -",
      )
      .does(async () => (await import("../files/get-files.ts")).getFiles),
  doctor: (command) =>
    command
      .description("Diagnose and fix common problems")
      .option("--check", "Change nothing")
      .option("--strict", "Fail on warnings as well")
      .option("--show-key", "Print the gateway's API key, and do nothing else")
      .option(
        "--regenerate-key",
        "Create a new API key, which ends all sessions, and do nothing else",
      )
      .examples("al doctor", "al doctor --check --strict --json", "al doctor --show-key")
      .does(async () => (await import("../doctor/run-doctor.ts")).doctor),
} satisfies Commands;
