import type { Readable } from "node:stream";
import { messageOf } from "../../errors.ts";
import { killRun, signalRun } from "../end-processes.ts";
import { endAhead, endOf, startAhead } from "./ahead.ts";
import { keepRun } from "./keep-run.ts";
import type { Asked, KeeperSurroundings } from "./keep-run.ts";
import { killSignal, parseOrder } from "./keeper-order.ts";
import type { KeeperOrder, WarmOrder } from "./keeper-order.ts";
import { notWhole, orderInput } from "./order-input.ts";
import type { OrderInput } from "./order-input.ts";
import { removeWorkDir } from "./work-dir.ts";

/**
 * What `al _run-agent` does as the agent's OS user when the scheduler calls it: it takes an order from `input` and
 * keeps a run, or ends one. Its standard output is the run's log file. It outlives the scheduler, so that a run does.
 * Resolves to its exit code; never rejects.
 */
export async function keeper(input: Readable, env: NodeJS.ProcessEnv): Promise<number> {
  const surroundings = { env, asked: listen(), logFd: 1 };
  try {
    const orders = orderInput(input);
    const order = parsed(await orders.line());
    if (order.order === "warm") return await keepAhead(order, orders, surroundings);
    return await follow(order, orders, { ...surroundings, ahead: null });
  } catch (error) {
    process.stderr.write(`al _run-agent: ${messageOf(error)}\n`);
    return 1;
  }
}

async function follow(
  order: KeeperOrder,
  orders: OrderInput,
  surroundings: KeeperSurroundings,
): Promise<number> {
  switch (order.order) {
    case "warm":
      throw new Error(notWhole);
    case "keep":
      return keepRun(order, await orders.rest(), surroundings);
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

/** Starts a run's process and waits for the run; without one, because its scheduler went or it ended, that was it. */
async function keepAhead(
  order: WarmOrder,
  orders: OrderInput,
  surroundings: Omit<KeeperSurroundings, "ahead">,
): Promise<number> {
  const ahead = await startAhead(order, surroundings.env);
  try {
    const asked = new Promise<null>((resolve) => {
      surroundings.asked.onAsked(() => resolve(null));
    });
    const ended = endOf(ahead).then(() => null);
    const next = await Promise.race([orders.line().catch(() => null), ended, asked]);
    return next === null ? 0 : await follow(parsed(next), orders, { ...surroundings, ahead });
  } finally {
    await endAhead(ahead);
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

function parsed(text: string): KeeperOrder {
  try {
    return parseOrder(text);
  } catch {
    // The parser's message quotes what it read.
    throw new Error(notWhole);
  }
}
