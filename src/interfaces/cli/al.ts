#!/usr/bin/env node
/**
 * The `al` command. This file alone must parse and run on an old Node (18 and up): it continues with the `node`
 * package installed beside it, or names the version to install. Everything else is loaded afterwards.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import module, { createRequire } from "node:module";
import { constants, homedir } from "node:os";
import { dirname, join } from "node:path";

const oldestNode = 24;

function majorOf(version: string): number {
  return Number(version.split(".")[0]);
}

/** The binary of the `node` package, if it exists and is new enough. */
function bundledNode(): string | null {
  try {
    const manifest = createRequire(import.meta.url).resolve("node/package.json");
    const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
    const binary = join(dirname(manifest), "bin/node");
    return majorOf(version) >= oldestNode && existsSync(binary) ? binary : null;
  } catch {
    return null;
  }
}

/** Passes everything on to another Node: arguments, standard streams, signals and the exit code. */
function continueWith(binary: string): void {
  const args = [...process.execArgv, ...process.argv.slice(1)];
  // Signals are handled before spawn(): one may arrive while the child starts.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const) {
    process.on(signal, () => child.kill(signal));
  }
  const child = spawn(binary, args, { stdio: "inherit" });
  child.on("error", (error) => {
    process.stderr.write(`error: ${binary} cannot be started: ${error.message}\n`);
    process.exit(1);
  });
  child.on("exit", (code, signal) =>
    process.exit(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
  );
}

/**
 * Keeps compiled code for the next start. In the user's own cache folder, because write access to it decides which code
 * runs. A run's process gets its folder, if any, from the scheduler (NODE_COMPILE_CACHE).
 */
function keepCompiledCode(): void {
  if (isRun() || isRemote() || isAgentCommand()) return;
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  module.enableCompileCache(join(cache, "almanac"));
}

/** Whether the scheduler called it for a run. Two such processes stand between a trigger and its run. */
function isRun(): boolean {
  return process.argv[2] === "_run-agent";
}

/** Whether the engine of a cluster called it: for a run, or to forward the bytes of runs. */
function isRemote(): boolean {
  return process.argv[2] === "_remote-run" || process.argv[2] === "_door-relay";
}

/** Whether an agent called it by one of its commands. */
function isAgentCommand(): boolean {
  return process.argv[2] === "_agent";
}

async function main(): Promise<void> {
  if (majorOf(process.versions.node) >= oldestNode) {
    keepCompiledCode();
    // A run or an agent waits for these commands, so little is loaded for them.
    if (isRun()) {
      const { runAgentProcess } = await import("./agent-process/run-agent-process.ts");
      return runAgentProcess();
    }
    if (isRemote()) {
      const { remoteProcess } = await import("./agent-process/remote-process.ts");
      return remoteProcess(process.argv.slice(2));
    }
    if (isAgentCommand()) {
      const { agentProcess } = await import("./agent-process/agent-process.ts");
      process.exitCode = await agentProcess(process.argv.slice(3));
      return;
    }
    const { runProgram } = await import("./program.ts");
    await runProgram(process.argv);
    return;
  }
  const binary = bundledNode();
  if (binary !== null) return continueWith(binary);
  process.stderr.write(
    `error: al needs Node ${oldestNode} or newer and this is ${process.versions.node}; install it with: npm install --global node@${oldestNode}\n`,
  );
  process.exitCode = 1;
}

await main();
