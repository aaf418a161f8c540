import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { maxDocumentBytes } from "../../../foundation/contracts/body-limits.ts";
import { firstLine } from "../../wire/lines.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { killRun, signalRun } from "../../wire/marked-processes.ts";
import { superviseRun, type StopRequests, type SupervisorContext } from "./supervise-run.ts";
import { killSignal, parseOrder, type SupervisorOrder } from "../../wire/supervisor-order.ts";
import { removeWorkDir } from "./work-dir.ts";

const newline = 0x0a;

const notWhole =
  "standard input contained no complete order; this command is for the scheduler, not for people";

/**
 * `al _run-agent`, started by the scheduler as the agent's OS user: it reads an order from `input` and supervises a run,
 * or ends one. Its standard output is the run's log file. It outlives the scheduler, so that a run does. Resolves to its
 * exit code; never rejects.
 */
export async function supervisor(input: Readable, env: NodeJS.ProcessEnv): Promise<number> {
  const context = { env, asked: listen(), logFd: 1 };
  try {
    return await follow(await orderIn(input), input, context);
  } catch (error) {
    process.stderr.write(`al _run-agent: ${messageOf(error)}\n`);
    return 1;
  }
}

async function follow(
  order: SupervisorOrder,
  input: Readable,
  context: SupervisorContext,
): Promise<number> {
  switch (order.order) {
    case "keep":
      if (await superviseRun(order, jobIn(input), context)) return 0;
      throw new Error(notWhole);
    case "signal":
      await signalRun(order.instanceId, order.signal);
      return 0;
    case "end":
      await killRun(order.instanceId);
      await removeWorkDir(order.workDir);
      return 0;
  }
}

/** From the first moment on, so that no request is missed; before that, the signal ends this process. */
function listen(): StopRequests {
  const listeners = new Set<() => void>();
  const asked: { now: "TERM" | "KILL" | null } = { now: null };
  const ask = (how: "TERM" | "KILL") => {
    asked.now = how;
    for (const listener of listeners) listener();
  };
  process.on("SIGTERM", () => ask("TERM"));
  process.on(killSignal, () => ask("KILL"));
  // Ctrl-C and a closed terminal are meant for the scheduler.
  for (const name of ["SIGINT", "SIGHUP"] as const) process.on(name, () => undefined);
  return { now: () => asked.now, onRequest: (listener) => void listeners.add(listener) };
}

async function orderIn(input: Readable): Promise<SupervisorOrder> {
  const line = await firstLine(input, maxDocumentBytes);
  try {
    return parseOrder(line ?? "");
  } catch {
    // The parser's message quotes its input.
    throw new Error(notWhole);
  }
}

/** The rest of the input: one line. Null without its end: the run is not to start, or its scheduler died. */
async function jobIn(input: Readable): Promise<Buffer | null> {
  const job = await buffer(input).catch(() => null);
  return job?.at(-1) === newline ? job : null;
}
