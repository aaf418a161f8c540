import type { Readable } from "node:stream";
import { messageOf } from "../../errors.ts";
import { killMarked, signalMarked } from "../end-processes.ts";
import { keepRun } from "./keep-run.ts";
import type { Asked } from "./keep-run.ts";
import { killSignal, parseOrder } from "./keeper-order.ts";
import { removeWorkDir } from "./work-dir.ts";

/** A job's own limit and its order. */
const maxInputBytes = 65 * 1024 * 1024;

/**
 * What `al _run-agent` does as the agent's OS user when the scheduler calls it: it takes an order from `input` and
 * keeps a run, or ends one. Its standard output is the run's log file. It outlives the scheduler, so that a run does.
 * Resolves to its exit code; never rejects.
 */
export async function keeper(input: Readable, env: NodeJS.ProcessEnv): Promise<number> {
  const asked = listen();
  try {
    const { order, job } = await readOrder(input);
    if (order.order === "keep") return await keepRun(order, job, { env, asked, logFd: 1 });
    if (order.order === "signal") {
      await signalMarked(order.instanceId, order.signal);
      return 0;
    }
    await killMarked(order.instanceId);
    await removeWorkDir(order.workDir);
    return 0;
  } catch (error) {
    process.stderr.write(`al _run-agent: ${messageOf(error)}\n`);
    return 1;
  }
}

/** From the first moment on, so that no request is missed; before that, the signal ends this process. */
function listen(): Asked {
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
  return { now: () => asked.now, onAsked: (listener) => void listeners.add(listener) };
}

/** A scheduler that died while it wrote leaves no end of line, and then nothing may begin. */
async function readOrder(input: Readable) {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxInputBytes) throw new Error(`more than ${maxInputBytes} bytes on standard input`);
  }
  const all = Buffer.concat(chunks);
  const end = all.indexOf(0x0a);
  if (end === -1 || all.at(-1) !== 0x0a) throw new Error(notWhole);
  let order;
  try {
    order = parseOrder(all.toString("utf8", 0, end));
  } catch {
    // The parser's message quotes what it read.
    throw new Error(notWhole);
  }
  const job = all.subarray(end + 1);
  if (order.order === "keep" && job.length === 0) throw new Error(notWhole);
  return { order, job };
}

const notWhole =
  "no whole order came on standard input; the scheduler runs this command, not a person";
