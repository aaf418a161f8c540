import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { CommanderError, type Command } from "commander";
import { completionCommands } from "./commands/completion.ts";
import { controlCommands } from "./commands/control.ts";
import { memoryCommands } from "./commands/memory.ts";
import { webhookCommands } from "./commands/webhooks.ts";
import { projectCommands } from "./commands/project.ts";
import { reportCommands } from "./commands/reports.ts";
import { usageError } from "../../foundation/errors.ts";
import { projectDirOf } from "./context.ts";
import { answeredAsJson, helpAsFlag, mustKnowHelp } from "./help/asked-help.ts";
import { AlCommand, optionText } from "./help/al-command.ts";
import { flushPipes, watchPipes } from "./terminal/pipes.ts";
import { commandError, nearest, reportError, synonymOf } from "./terminal/report-error.ts";
import { packageVersion } from "../../foundation/version.ts";

const commands = {
  ...projectCommands,
  ...controlCommands,
  ...webhookCommands,
  ...reportCommands,
  ...memoryCommands,
  ...completionCommands,
};

/** In help's order: commands for newcomers come first. */
const order: readonly (keyof typeof commands)[] = [
  ...(["new", "agent", "add", "update", "config", "start", "open"] as const),
  ...(["stat", "logs", "history", "schedule", "cost", "alerts", "show", "files", "get"] as const),
  ...(["replay", "backfill", "run", "memory"] as const),
  ...(["questions", "answer", "steer", "continue", "session", "audit"] as const),
  ...(["pause", "resume", "kill", "budget", "stop", "webhook", "mcp", "creds"] as const),
  ...(["token", "backup", "restore", "upgrade", "doctor"] as const),
  ...(["completion", "_complete"] as const),
];

/** All commands: help, usage errors, completion and the reference page are read from them. */
export function buildProgram(): Command {
  const program = new AlCommand("al")
    .description("Run LLM agents on schedules, on webhooks, or when another agent calls them.")
    .version(packageVersion(), "-V, --version", "Print the version")
    .helpOption("-h, --help", "Show help")
    .option(
      "-p, --project <dir>",
      "Project directory (default: this directory or its nearest parent with a project)",
    )
    .option("--json", "Print one JSON document on standard output, even on failure")
    .configureHelp({ showGlobalOptions: true, optionDescription: optionText, minWidthToWrap: 15 })
    .helpCommand("help [command]", "Show help for a command")
    .examples("al new my-project", "al start --web-ui", "al help start")
    .exitCodes({
      0: "Done",
      1: "Failed; standard error shows the reason and a remedy",
      2: "Wrong usage",
      124: "A run timed out",
      130: "Interrupted",
    });
  // Usage errors reach `runProgram` like any other, so that there is one place that prints errors.
  program.exitOverride().configureOutput({ outputError: () => undefined });
  // A command without a place in the order comes last.
  const names = new Set([...order, ...(Object.keys(commands) as (keyof typeof commands)[])]);
  for (const name of names) {
    const command = commands[name](new AlCommand(name));
    const options = { hidden: name.startsWith("_") };
    program.addCommand(command.copyInheritedSettings(program), options);
    for (const inner of command.commands) inner.copyInheritedSettings(command);
  }
  nameInErrors(program, "al");
  return program;
}

/** A usage error names its command. Requested help also ends a command by an error. */
function nameInErrors(command: Command, path: string): void {
  command.exitOverride((error) => {
    if (isHelp(error)) throw error;
    const near = commandMeant(error, command);
    throw commandError(error, path, { near, advice: agentAdvice(error, command) });
  });
  for (const inner of command.commands) nameInErrors(inner, `${path} ${inner.name()}`);
}

/**
 * A command that was meant by a word that the default one of its group took (`al alerts lst`), or by another program's
 * word (`al list`).
 */
function commandMeant({ code }: CommanderError, command: Command): string | null {
  const { args, parent } = command;
  const namesOf = ({ commands: inner }: Command) => inner.map((one) => one.name());
  if (code === "commander.unknownCommand") return synonymOf(args[0] ?? "", namesOf(command));
  if (code !== "commander.excessArguments" || parent?.parent == null) return null;
  if (parent.args[0] === command.name()) return null;
  return nearest(args[0] ?? "", namesOf(parent));
}

/** The advice for an agent's name in place of a command. */
function agentAdvice({ code }: CommanderError, command: Command): string | null {
  const [name = ""] = command.args;
  if (code !== "commander.unknownCommand" || basename(name) !== name) return null;
  const isAgent = existsSync(join(projectDirOf(command), "agents", name, "config.toml"));
  return isAgent
    ? `"${name}" is an agent. Run it with \`al run ${name}\`, or see its latest run with \`al show ${name}\`.`
    : null;
}

/** Runs `al` with the process's arguments, then ends the process with the exit code of decisions: 0, 1, 2, 124, 130. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  watchPipes();
  await runWords(argv.slice(2));
  await flushPipes();
  // Handles that a library left open must not keep a finished command from ending.
  process.exit();
}

/** Runs the command of the words that follow `al`, and sets the process's exit code. */
export async function runWords(words: readonly string[]): Promise<void> {
  try {
    const program = buildProgram();
    if (await answeredAsJson(program, words)) return;
    mustKnowHelp(program, words);
    if (words.length === 0) program.outputHelp();
    else await program.parseAsync(helpAsFlag(words), { from: "user" });
  } catch (error) {
    process.exitCode = reported(error, words.includes("--json"));
  }
}

/** Reports an error, except for help, which is already printed; returns the exit code. */
function reported(error: unknown, json: boolean): number {
  if (!isHelp(error)) return reportError(error, json, process.env);
  const exitCode = helpExitCode(error);
  // The help went to standard error, and a program that reads standard output gets its one document.
  return json && exitCode !== 0 ? reportError(noCommand, json, process.env) : exitCode;
}

const noCommand = usageError("the command is missing", "Run `al --help` to list the commands.");

function isHelp(error: unknown): error is CommanderError {
  return (
    error instanceof CommanderError && (error.exitCode === 0 || error.code === "commander.help")
  );
}

/** Requested help succeeds; help in place of a missing command is a usage error. */
function helpExitCode({ exitCode }: CommanderError): number {
  return exitCode === 0 ? 0 : 2;
}
