import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { maxDocumentBytes } from "../../../foundation/contracts/body-limits.ts";
import { firstLine } from "../../../foundation/contracts/first-line.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { killRun, signalRun } from "../end-processes.ts";
import { endPrewarmed, endOf, startPrewarmed } from "./prewarmed-process.ts";
import { superviseRun } from "./supervise-run.ts";
import type { StopRequests, SupervisorContext } from "./supervise-run.ts";
import { killSignal, parseOrder } from "./supervisor-order.ts";
import type { SupervisorOrder, PrewarmOrder } from "./supervisor-order.ts";
import { removeWorkDir } from "./work-dir.ts";

const newline = 0x0a;

const notWhole =
  "no whole order came on standard input; the scheduler runs this command, not a person";

/**
 * What `al _run-agent` does as the agent's OS user when the scheduler calls it: it takes an order from `input` and
 * supervises a run, or ends one. Its standard output is the run's log file. It outlives the scheduler, so that a run does.
 * Resolves to its exit code; never rejects.
 */
export async function supervisor(input: Readable, env: NodeJS.ProcessEnv): Promise<number> {
  const context = { env, asked: listen(), logFd: 1 };
  try {
    const order = await nextOrder(input);
    if (order.order === "warm") return await prewarm(order, input, context);
    return await follow(order, input, { ...context, prewarmed: null });
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
    case "warm":
      throw new Error(notWhole);
    case "keep":
      return superviseRun(order, await jobIn(input), context);
    case "signal":
      await Promise.all(marksOf(order).map((mark) => signalRun(mark, order.signal)));
      return 0;
    case "end":
      await Promise.all(marksOf(order).map(killRun));
      await removeWorkDir(order.workDir);
      return 0;
  }
}

/** What processes of a run carry: those that it started its name, its own maybe another that was there before. */
function marksOf({ instanceId, mark }: { instanceId: string; mark?: string | undefined }) {
  return mark === undefined ? [instanceId] : [instanceId, mark];
}

/** Starts a run's process and waits for the run; without one, because its scheduler went or it ended, it resolves to 0. */
async function prewarm(
  order: PrewarmOrder,
  input: Readable,
  context: Omit<SupervisorContext, "prewarmed">,
): Promise<number> {
  const prewarmed = await startPrewarmed(order, context.env);
  try {
    const asked = new Promise<null>((resolve) => {
      context.asked.onRequest(() => resolve(null));
    });
    const ended = endOf(prewarmed).then(() => null);
    const line = firstLine(input, maxDocumentBytes).catch(() => null);
    const next = await Promise.race([line, ended, asked]);
    return next === null ? 0 : await follow(parsed(next), input, { ...context, prewarmed });
  } finally {
    await endPrewarmed(prewarmed);
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

async function nextOrder(input: Readable): Promise<SupervisorOrder> {
  const line = await firstLine(input, maxDocumentBytes);
  if (line === null) throw new Error(notWhole);
  return parsed(line);
}

/** What is left of the input: a line. A scheduler that died while it wrote leaves half of one. */
async function jobIn(input: Readable): Promise<Buffer> {
  const job = await buffer(input);
  if (job.at(-1) !== newline) throw new Error(notWhole);
  return job;
}

function parsed(text: string): SupervisorOrder {
  try {
    return parseOrder(text);
  } catch {
    // The parser's message quotes what it read.
    throw new Error(notWhole);
  }
}
