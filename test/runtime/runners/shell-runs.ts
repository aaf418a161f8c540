import { readdir, readFile } from "node:fs/promises";
import type { Job } from "../../../src/foundation/contracts/job.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import { scenarios, type Scenario } from "./scenarios.ts";

/** Shell that logs a line as a harness does. */
export const log = (msg: string) =>
  `printf '%s\\n' '{"type":"log","level":30,"time":5,"kind":"said","msg":"${msg}"}'`;
/** Shell that gives the run's account. */
export const end = (error: string | null = null) =>
  `printf '%s\\n' '{"type":"end","error":${JSON.stringify(error)},"usage":{"model":"m","tokens":7,"costUsd":null,"turns":1}}'`;
export const forever = `while :; do sleep 0.05; done`;

/** Shell scripts in place of a harness: they play a scenario. */
const scripts: Record<Scenario, string> = {
  "three-lines": [
    log("one"),
    log("two"),
    log("three"),
    `echo '{"type":"status","text":"working"}'`,
    end(),
  ].join("\n"),
  chatter: `for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do printf '{"type":"log","level":30,"time":5,"kind":"said","msg":"%s"}\\n' "$AL_INSTANCE"; sleep 0.01; done; ${end()}`,
  "exit-7": "exit 7",
  "own-error": `${end("model is tired")}; exit 1`,
  returns: [
    `echo '{"type":"return","json":"1","more":false}'`,
    `echo '{"type":"return","json":"{\\"text\\":\\"a","more":true}'`,
    `echo '{"type":"rerun"}'`,
    `echo '{"type":"return","json":" b\\"}","more":false}'`,
    end(),
  ].join("\n"),
  "ends-on-term": `trap 'exit 143' TERM; ${log("ready")}; ${forever}`,
  "ignores-term": `trap '' TERM; ${log("ready")}; ${forever}`,
  "cannot-start": "",
  "huge-line": `head -c 5000000 /dev/zero | tr '\\0' x; echo; ${log("after")}; ${end()}`,
  garbage: `head -c 200000 /dev/urandom; echo; ${log("after")}; ${end()}`,
};

/** A job as small as it can be; its prompt is `the-job-text`. */
export function jobOf({ instanceId, agent }: RunRequest, workDir: string): Job {
  return {
    instanceId,
    agent: agent.name,
    title: agent.title,
    instructions: agent.instructions,
    harness: agent.harness,
    models: [],
    params: {},
    credentials: [],
    hooks: { pre: [], post: [] },
    timeoutSeconds: 5,
    trigger: { kind: "manual", prompt: "the-job-text" },
    payload: null,
    workDir,
    channel: null,
  };
}

/** The processes that carry the mark of a run. */
export async function processesOf(instanceId: string): Promise<readonly string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environ = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      return environ.includes(`AL_INSTANCE=${instanceId}`) ? [`process ${pid}`] : [];
    }),
  );
  return found.flat();
}

/** The script of a scenario; anything else is a script itself. */
export function scriptOf(title: string): string {
  const scenario = scenarios.find((known) => known === title);
  return scenario === undefined ? title : scripts[scenario];
}
