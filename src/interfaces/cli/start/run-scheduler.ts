import { startScheduler } from "../../../start/start.ts";
import type { Context } from "../context.ts";
import { outlivePipes } from "../terminal/pipes.ts";
import { createLineDisplay, type Display } from "./scheduler-display.ts";
import { giveMemoryBack } from "./give-memory-back.ts";
import { limitYoungGeneration } from "./limit-young-generation.ts";
import { watchStopSignals } from "../stop-signals.ts";
import { createLiveDisplay, wantsLiveView } from "../tui/live-display.ts";

export interface StartOptions {
  readonly webUi?: true;
  readonly headless?: true;
  readonly port?: number;
  readonly host?: string;
  readonly grace: number;
}

/** Runs the project until it is stopped; the exit code. */
export async function runScheduler(context: Context, options: StartOptions): Promise<number> {
  limitYoungGeneration();
  // The scheduler outlives the reader of its log (`al start | head`).
  outlivePipes();
  const signals = watchStopSignals();
  const display = await displayFor(context, options);
  const webUi = options.webUi === true;
  const starting = startScheduler({
    projectDir: context.projectDir,
    webUi,
    ...(options.port === undefined ? {} : { port: options.port }),
    ...(options.host === undefined ? {} : { host: options.host }),
    graceSeconds: options.grace,
    env: context.env,
    log: (entry) => display.log(entry),
  });
  const scheduler = await starting.catch((error: unknown) => {
    display.failed();
    throw error;
  });
  giveMemoryBack();
  display.show({ scheduler, signals, webUi });
  signals.forwardTo(scheduler, () => display.interrupted());
  const code = await scheduler.done;
  await display.end(signals.wereTwice());
  return signals.wereTwice() ? 130 : code;
}

async function displayFor(context: Context, options: StartOptions): Promise<Display> {
  const { env, out } = context;
  const { stdin, stdout } = process;
  const headless = options.headless === true;
  if (!wantsLiveView({ stdin, stdout, env, headless, json: out.json })) {
    return createLineDisplay(context);
  }
  return createLiveDisplay(context);
}
