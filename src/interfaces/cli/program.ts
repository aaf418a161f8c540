import { CommanderError } from "commander";
import type { Command } from "commander";
import { addCommand } from "./commands/add.ts";
import { agentCommand } from "./commands/agent.ts";
import { alertsCommand } from "./commands/alerts.ts";
import { budgetCommand } from "./commands/budget.ts";
import { completeCommand, completionCommand } from "./commands/completion.ts";
import { configCommand } from "./commands/config.ts";
import { costCommand } from "./commands/cost.ts";
import { credsCommand } from "./commands/creds.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { historyCommand } from "./commands/history.ts";
import { importCommand } from "./commands/import.ts";
import { killCommand } from "./commands/kill.ts";
import { logsCommand } from "./commands/logs.ts";
import { newCommand } from "./commands/new.ts";
import { openCommand } from "./commands/open.ts";
import { pauseCommand, resumeCommand } from "./commands/pause.ts";
import { replayCommand } from "./commands/replay.ts";
import { runCommand } from "./commands/run.ts";
import { showCommand } from "./commands/show.ts";
import { startCommand } from "./commands/start.ts";
import { statCommand } from "./commands/stat.ts";
import { stopCommand } from "./commands/stop.ts";
import { updateCommand } from "./commands/update.ts";
import { webhookCommand } from "./commands/webhook.ts";
import { UserError } from "../../foundation/errors.ts";
import { answeredAsJson, mustKnowHelp } from "./help/asked-help.ts";
import { AlCommand, CommandError, optionText } from "./help/al-command.ts";
import { flushPipes, watchPipes } from "./terminal/pipes.ts";
import { reportError } from "./terminal/report-error.ts";
import { packageVersion } from "../../foundation/version.ts";

/** All commands: help, usage errors, completion and the reference page are read from them. */
export function buildProgram(): Command {
  const program = new AlCommand("al")
    .description("Runs LLM agents on cron schedules, webhooks and calls.")
    .version(packageVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .option(
      "-p, --project <dir>",
      "the project's directory (default: this one or the nearest above)",
    )
    .option("--json", "print one JSON document on standard output, also on failure")
    .configureHelp({ showGlobalOptions: true, optionDescription: optionText })
    .helpCommand("help [command]", "show help for a command")
    .examples("al new my-project", "al start --web-ui", "al help start")
    .exitCodes({
      0: "done",
      1: "failed; standard error says why and what to do",
      2: "wrong usage",
      124: "a run reached its timeout",
      130: "interrupted",
    });
  const commands = [
    newCommand(),
    importCommand(),
    agentCommand(),
    addCommand(),
    updateCommand(),
    configCommand(),
    startCommand(),
    openCommand(),
    statCommand(),
    logsCommand(),
    historyCommand(),
    costCommand(),
    alertsCommand(),
    showCommand(),
    replayCommand(),
    runCommand(),
    pauseCommand(),
    resumeCommand(),
    killCommand(),
    budgetCommand(),
    stopCommand(),
    webhookCommand(),
    credsCommand(),
    doctorCommand(),
    completionCommand(),
  ];
  // Usage errors reach `runProgram` like any other, so that there is one place that prints errors.
  program.exitOverride().configureOutput({ outputError: () => undefined });
  for (const command of commands) {
    program.addCommand(command.copyInheritedSettings(program));
    for (const inner of command.commands) inner.copyInheritedSettings(command);
  }
  program.addCommand(completeCommand().copyInheritedSettings(program), { hidden: true });
  nameInErrors(program, "al");
  return program;
}

/** A usage error has the command that it is of. Help that was asked for ends a command by an error, too. */
function nameInErrors(command: Command, path: string): void {
  command.exitOverride((error) => {
    throw new CommandError(error, path);
  });
  for (const inner of command.commands) nameInErrors(inner, `${path} ${inner.name()}`);
}

/** Runs `al` with the process's arguments, then ends the process with the exit code of decisions: 0, 1, 2, 124, 130. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  watchPipes();
  try {
    const program = buildProgram();
    if (await answeredAsJson(program, argv.slice(2))) return await ended();
    mustKnowHelp(program, argv.slice(2));
    if (argv.length <= 2) program.outputHelp();
    else await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = reported(error, argv.includes("--json"));
  }
  await ended();
}

async function ended(): Promise<void> {
  await flushPipes();
  // Handles that a library left open must not keep a finished command from ending.
  process.exit();
}

/** Reports what was thrown, unless it was help, which is printed already; the exit code that goes with it. */
function reported(error: unknown, json: boolean): number {
  if (!isHelp(error)) return reportError(error, json, process.env);
  const exitCode = helpExitCode(error);
  // The help went to standard error, and a program that reads standard output gets its one document.
  return json && exitCode !== 0 ? reportError(noCommand, json, process.env) : exitCode;
}

const noCommand = new UserError("usage", "the command is missing", {
  hint: "al --help lists the commands",
  exitCode: 2,
});

function isHelp(error: unknown): error is CommanderError {
  return (
    error instanceof CommanderError && (error.exitCode === 0 || error.code === "commander.help")
  );
}

/** Help that was asked for is no failure; help because the command that was meant is missing is a usage error. */
function helpExitCode({ exitCode }: CommanderError): number {
  return exitCode === 0 ? 0 : 2;
}
