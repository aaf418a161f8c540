import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { mountedSocketDir } from "../../../runtime/wire/protocol.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { interrupted } from "../stop-signals.ts";
import { flushPipes, outlivePipes } from "../terminal/pipes.ts";

/** Where engines put a run's ticket. */
const ticketFile = "/run/secrets/al-run";
const usageExit = 2;

/**
 * Started by the engine of a cluster; not for people.
 * `al _remote-run <agent> --project <dir> [--ticket <file>] [--socket-dir <dir>] [-- <program> …]`: one run. The
 * program is started for it instead of the run's own process.
 * `al _door-relay <host:port>`: passes bytes of runs without a network on to the scheduler.
 */
export async function remoteProcess([name, ...args]: readonly string[]): Promise<void> {
  outlivePipes();
  try {
    process.exitCode = await (name === "_door-relay" ? relay(args) : run(args));
  } catch (error) {
    process.stderr.write(`al ${name ?? ""}: ${messageOf(error)}\n`);
    process.exitCode = usageExit;
  }
  await flushPipes();
  // A socket that is still open must not keep a finished run's machine busy.
  process.exit();
}

async function run(args: readonly string[]): Promise<number> {
  const dashes = args.includes("--") ? args.indexOf("--") : args.length;
  const { values, positionals } = parseArgs({
    args: args.slice(0, dashes),
    allowPositionals: true,
    options: {
      project: { type: "string", default: "/workspace" },
      ticket: { type: "string", default: ticketFile },
      "socket-dir": { type: "string", default: mountedSocketDir },
    },
  });
  const program = args.slice(dashes + 1);
  const { remoteRun } = await import("../../../runtime/cluster/remote-run/remote-run.ts");
  return remoteRun({
    ticket: values.ticket,
    socketDir: resolve(values["socket-dir"]),
    command: program.length > 0 ? program : ownProgram(onlyOne(positionals), values.project),
    env: process.env,
    terminated: interrupted(),
    err: (text) => void process.stderr.write(text),
  });
}

function ownProgram(agent: string, project: string): string[] {
  const al = process.argv[1] ?? "al";
  return [process.execPath, al, "_run-agent", agent, "--project", project];
}

async function relay(args: readonly string[]): Promise<number> {
  const { doorRelay } = await import("../../../runtime/cluster/door-relay.ts");
  const { positionals } = parseArgs({ args: [...args], allowPositionals: true });
  return doorRelay(onlyOne(positionals), interrupted(), (text) => void process.stderr.write(text));
}

function onlyOne([given, ...more]: readonly string[]): string {
  if (given !== undefined && more.length === 0) return given;
  throw new Error("exactly one argument is expected; an engine runs this command, not a person");
}
