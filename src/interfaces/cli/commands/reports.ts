import { outcomes } from "../../../../streams/outcomes.ts";
import { deliveryStates } from "../../../features/alerts/rules/alert.ts";
import { searchKinds } from "../../../features/search/search-kinds.ts";
import { spendKeys } from "../../../foundation/contracts/budget.ts";
import { triggerNames } from "../../../../streams/vocabulary.ts";
import type { Commands, Define } from "../help/al-command.ts";
import { moment, momentAhead, wholeNumber } from "../options.ts";

const listAlerts: Define = (command) =>
  command
    .description(
      "the default: what is wrong now, how each target does, and the alerts, newest first",
    )
    .choice("--state <state>", "only alerts in this state", deliveryStates)
    .option("--target <target>", "only alerts to this target")
    .option("-n, --lines <n>", "how many alerts", wholeNumber(1, 200), 20)
    .examples("al alerts", "al alerts list --state dead", "al alerts list --target ops -n 100")
    .does(async () => (await import("../operator/alerts.ts")).listAlerts);

const testAlert: Define = (command) =>
  command
    .description(
      "send a test to a target, now; one that was switched off is on again if it accepts",
    )
    .argument("<target>", "name of a target, [alerts.<name>] in config.toml")
    .examples("al alerts test ops")
    .exitCodes({ 0: "the target accepted it", 1: "it did not; the reason is printed" })
    .does(async () => (await import("../operator/alerts.ts")).testTarget);

const retry: Define = (command) =>
  command
    .description("send an alert again that was given up, or one that waits now")
    .argument("[id]", "its id, as al alerts names it")
    .option("--all", "all that were given up")
    .examples("al alerts retry 0198c0de-7a11-4000-8000-5ec0ffee0001", "al alerts retry --all")
    .does(async () => (await import("../operator/alerts.ts")).retryAlerts);

const whose = '"project", or an agent\'s name';

const ack: Define = (command) =>
  command
    .description("acknowledge open alerts: no reminders until they are resolved")
    .argument("<scope>", whose)
    .option("--undo", "send reminders again")
    .examples("al alerts ack triage", "al alerts ack project --undo")
    .does(async () => (await import("../operator/alerts.ts")).acknowledge);

const snooze: Define = (command) =>
  command
    .description("send no reminder for a time; one follows at its end if the problem still lasts")
    .argument("<scope>", whose)
    .argument("<time>", "how long: 30m, 4h, 2d, or a date-time", momentAhead)
    .examples("al alerts snooze triage 4h", "al alerts snooze project 2026-12-01T09:00Z")
    .does(async () => (await import("../operator/alerts.ts")).snooze);

/** Commands that show the state of a project. */
export const reportCommands = {
  stat: (command) =>
    command
      .alias("status")
      .description("show the scheduler and its agents")
      .option("--tag <tag>", "only agents with this tag")
      .examples("al stat", "al stat --tag web", "al stat -p ~/my-project --json")
      .does(async () => (await import("../operator/show.ts")).showStatus),
  logs: (command) =>
    command
      .description("show the log of an agent, or of all")
      .argument("[agent]", 'an agent, or "scheduler"')
      .option("-f, --follow", "print new lines as they come, until Ctrl-C")
      .option(
        "-n, --lines <n>",
        "how many of the last lines to begin with (default: 100); of --grep, how many runs (20)",
        wholeNumber(0, 10_000),
      )
      .option("-i, --instance <instance>", "only this run")
      .option("--since <when>", "only lines since then: 10m, 2h, 3d, or a date-time", moment)
      .option("-a, --agent <agent>", "the same as the argument")
      .option(
        "-g, --grep <words>",
        'only runs with lines that have all words, "phrases" and begin*',
      )
      .choice("--outcome <outcome>", "with --grep: only runs that ended like this", outcomes)
      .choice(
        "--kind <kind>",
        "with --grep: only lines of this kind; without it all but prompts",
        searchKinds,
      )
      .option("--oldest", "with --grep: the run with the first such line first")
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
      .description("show what was triggered and how it ended, newest first")
      .option("--dead-letter", "only what never ran: dropped, refused or unmatched")
      .option(
        "--refused",
        "only what no run was started for, and why; of an agent also what its filters turned away",
      )
      .option("-a, --agent <agent>", "only this agent")
      .choice("--kind <kind>", "filter by trigger type", Object.values(triggerNames))
      .choice("--outcome <outcome>", "only what ended like this", outcomes)
      .option("--since <when>", "only what arrived since then: 10m, 2h, 3d, or a date-time", moment)
      .option("-n, --lines <n>", "how many entries", wholeNumber(1, 200), 20)
      .examples(
        "al history",
        "al history --dead-letter --agent triage -n 50",
        "al history --agent triage --refused",
        "al history --kind schedule --outcome failed --since 3d",
      )
      .does(async () => (await import("../operator/show.ts")).showHistory),
  cost: (command) =>
    command
      .description("show what runs spent on models, the limits, and what a month will cost")
      .argument("[agent]", "only this agent")
      .option(
        "--since <when>",
        "calls from then on: 12h, 7d, or a date-time (default: 30 days)",
        moment,
      )
      .choice("--by <what>", "add up by this (default: agent; of one agent: day)", spendKeys)
      .examples("al cost", "al cost --by model --since 7d", "al cost triage --by day")
      .does(async () => (await import("../operator/show.ts")).showCost),
  alerts: (command) =>
    command
      .description("show what is wrong now and which alerts arrived; acknowledge, test, send again")
      .examples("al alerts", "al alerts ack triage", "al alerts test ops", "al alerts retry --all")
      .inner("list", listAlerts, { isDefault: true })
      .inner("ack", ack)
      .inner("snooze", snooze)
      .inner("test", testAlert)
      .inner("retry", retry),
  questions: (command) =>
    command
      .description("show the questions of runs that wait for a person's answer")
      .option("-a, --agent <agent>", "only those of this agent")
      .option("--all", "also those that have ended, and who answered")
      .option("-n, --lines <n>", "how many questions", wholeNumber(1, 200), 50)
      .examples("al questions", "al questions --all --agent deploy", "al questions --json")
      .does(async () => (await import("../operator/people.ts")).showQuestions),
  audit: (command) =>
    command
      .description("show who did what: answers, approvals, raises, kills, triggers, edits, logins")
      .option("-a, --agent <agent>", "only acts on this agent and its runs")
      .option(
        "--by <person>",
        "only acts by a way (key, login, token, link, slack, telegram, terminal), a name or an address",
      )
      .option("--act <act>", "only this act, such as answer, approve, raise, kill, edit or login")
      .option("--since <when>", "only acts since then: 10m, 2h, 3d, or a date-time", moment)
      .option("-n, --lines <n>", "how many acts", wholeNumber(1, 200), 20)
      .examples("al audit", "al audit --since 7d --act approve", "al audit --agent deploy --by Ada")
      .does(async () => (await import("../operator/people.ts")).showAudit),
  show: (command) =>
    command
      .description("show one run, or what changed in what it ran since another one")
      .argument(
        "<run>",
        "the instance id of a run, as al history shows it; or an agent: its latest run",
      )
      .option(
        "--diff [instance]",
        "what changed in config and instructions since that run, or an agent's latest; without one since the last that succeeded",
      )
      .option("--prompt", "what its model was given: instructions, environment and trigger")
      .examples(
        "al show triage-k3v9q2xa",
        "al show triage",
        "al show triage-k3v9q2xa --diff",
        "al show triage-k3v9q2xa --diff triage-b7w2m5ra",
        "al show triage-k3v9q2xa --prompt",
      )
      .does(async () => (await import("../operator/show.ts")).showRun),
  doctor: (command) =>
    command
      .description("find what is wrong with the project and its environment, and fix it")
      .option("--check", "change nothing")
      .option("--strict", "fail on warnings, too")
      .option("--show-key", "print the gateway's API key, and nothing else")
      .option("--regenerate-key", "make a new API key, which ends all sessions, and nothing else")
      .examples("al doctor", "al doctor --check --strict --json", "al doctor --show-key")
      .does(async () => (await import("../doctor/run-doctor.ts")).doctor),
} satisfies Commands;
