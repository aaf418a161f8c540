import { openStore } from "../../src/features/open-store.ts";
import { asyncScheduler } from "rxjs";
import type { SchedulerContext } from "../../src/foundation/context.ts";
import type { ProjectConfig } from "../../src/foundation/config/project-config.ts";
import { secretsOf } from "../../src/foundation/credentials/credential-types.ts";
import { loadCredential } from "../../src/foundation/credentials/load-credential.ts";
import { createRedactor } from "../../src/foundation/credentials/redactor.ts";
import { createLogWriter } from "../../src/foundation/logs/log-writer.ts";
import { createInputs, dispatchTo } from "../../src/foundation/scheduler/inputs.ts";
import { createStatusStore } from "../../src/foundation/scheduler/status-store.ts";
import { createSwitches } from "../../src/foundation/scheduler/switches.ts";
import { createClock } from "../../streams/clock.ts";
import { project as projectOf } from "../foundation/config/samples.ts";
import { tempDir } from "./temp-dir.ts";
import { schedulerStatus } from "../streams/status/board.ts";

/** A scheduler's context over a real store in a new directory, and the lines that it logged. */
export interface TestContext extends SchedulerContext {
  readonly lines: readonly string[];
}

/** Every member can be given; the others are real, except that nothing is printed or written to log files. */
export function schedulerContext(
  given: Partial<SchedulerContext> & { readonly project?: Partial<ProjectConfig> } = {},
): TestContext {
  const { project = {}, projectDir = tempDir(), ...members } = given;
  const home = members.home ?? projectDir;
  const lines: string[] = [];
  const store = members.store ?? openStore(projectDir);
  if (members.store === undefined) onTestFinished(() => store.close());
  const inputs = members.inputs ?? createInputs({ ...projectOf(""), ...project }, false);
  const redactor = members.redactor ?? createRedactor();
  const onProblem = (text: string) => lines.push(text);
  const logWriter = members.logWriter ?? createLogWriter(projectDir, { now: Date.now, onProblem });
  if (members.logWriter === undefined) onTestFinished(() => logWriter.close());
  const log: SchedulerContext["log"] = (_level, message) => lines.push(redactor.redact(message));
  return {
    projectDir,
    home,
    env: {},
    version: "0.0.0",
    onDemand: false,
    store,
    redactor,
    credential: async (reference) => {
      const credential = await loadCredential(home, reference);
      redactor.add(secretsOf(credential));
      return credential;
    },
    inputs,
    project$: inputs.project$,
    dispatch: dispatchTo(inputs),
    switches: createSwitches(store, inputs, () => undefined),
    stopping: {
      phase: () => "running",
      started: () => undefined,
      stop: () => inputs.stopping$.next(),
      stopNow: () => inputs.stopping$.next(),
      done: () => undefined,
    },
    status: createStatusStore(schedulerStatus, () => ({})),
    clock: createClock(asyncScheduler),
    logWriter,
    log,
    warn: (message) => log(40, message),
    ...members,
    lines,
  };
}
