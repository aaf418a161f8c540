import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { Job } from "../../../src/foundation/contracts/job.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";

/** Shell that logs a line as a harness does. */
export const log = (msg: string) =>
  `printf '%s\\n' '{"type":"log","level":30,"time":5,"kind":"said","msg":"${msg}"}'`;
/** Shell that gives the run's account. */
export const end = (error: string | null = null) =>
  `printf '%s\\n' '{"type":"end","error":${JSON.stringify(error)},"usage":{"model":"m","tokens":7,"costUsd":null,"turns":1}}'`;
export const forever = `while :; do sleep 0.05; done`;
/** A process that has left the run's process group and session, and holds its output open. */
const escaped = "command -v setsid >/dev/null || exit 9; setsid sleep 300 &";

/** Shell scripts in place of a harness: what a runner's harness makes of a run's title in its own way. */
const scripts = {
  /** Logs three lines, sets the status `working`, ends with usage of 7 tokens. */
  "three-lines": [
    ...["one", "two", "three"].map(log),
    `echo '{"type":"status","text":"working"}'`,
    end(),
  ].join("\n"),
  /** Logs its own instance id twenty times, with pauses. */
  chatter: `for i in $(seq 20); do printf '{"type":"log","level":30,"time":5,"kind":"said","msg":"%s"}\\n' "$AL_INSTANCE"; sleep 0.01; done; ${end()}`,
  "exit-7": "exit 7",
  "no-account": "exit 0",
  "own-error": `${end("model is tired")}; exit 1`,
  /** Returns 1, then `{"text":"a b"}` in two pieces, and asks to be started again. */
  returns: [
    `echo '{"type":"return","json":"1","more":false}'`,
    `echo '{"type":"return","json":"{\\"text\\":\\"a","more":true}'`,
    `echo '{"type":"rerun"}'`,
    `echo '{"type":"return","json":" b\\"}","more":false}'`,
    end(),
  ].join("\n"),
  /** Runs on after its output has ended, and exits with 3. */
  "closed-output": `${end()}; exec >/dev/null 2>&1; sleep 0.7; exit 3`,
  "leaves-process": `${escaped} ${log("bye")}; ${end()}`,
  /** Its job has a payload of 3 MB; it logs the job's length. */
  "large-job": `head -n 1 | wc -c; ${end()}`,
  /** Logs `ready`, runs on until TERM and then exits with 143. */
  "ends-on-term": `trap 'exit 143' TERM; ${log("ready")}; ${forever}`,
  /** Logs `ready`, ignores TERM, and has another process. */
  "ignores-term": `${escaped} trap '' TERM; ${log("ready")}; ${forever}`,
  "cannot-prepare": "true",
  "cannot-start": "",
  /** Writes one line of five million bytes, then logs `after`. */
  "huge-line": `head -c 5000000 /dev/zero | tr '\\0' x; echo; ${log("after")}; ${end()}`,
  /** Writes 200 KB of noise, then logs `after`. */
  garbage: `head -c 200000 /dev/urandom; echo; ${log("after")}; ${end()}`,
};
export type Scenario = keyof typeof scripts;

/** The grace period that a harness gives its runner, in ms. */
export const contractGraceMs = 400;

/** The script of a scenario; anything else is a script itself. */
export const scriptOf = (title: string): string =>
  Object.hasOwn(scripts, title) ? scripts[title as Scenario] : title;

/** The title of the agent is the script, or the scenario whose script it is. */
export function aRequest(title: string, config: Partial<AgentConfig> = {}): RunRequest {
  const instanceId = `dev-${randomUUID().slice(0, 8)}`;
  return { instanceId, agent: anAgent("dev", { title, ...config }), item: anItem("1") };
}

/** A job as small as it can be; its prompt is `the-job-text`. */
export function jobOf({ instanceId, agent }: RunRequest, workDir: string): Job {
  if (agent.title === "cannot-prepare") throw new Error("credential github_token is missing");
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
    payload: agent.title === "large-job" ? "p".repeat(3_000_000) : null,
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
