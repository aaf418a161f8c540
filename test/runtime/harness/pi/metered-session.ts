import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { resolveProject } from "../../../../src/foundation/config/resolve-project.ts";
import type { ProjectConfig } from "../../../../src/foundation/config/project-config.ts";
import type { LiveRun } from "../../../../src/runtime/runs/live-run.ts";
import { createModelCalls } from "../../../../src/runtime/run-api/model-gateway/model-calls.ts";
import { prepareJob, type JobSources } from "../../../../src/runtime/runners/prepare-job.ts";
import { createRunMeter } from "../../../../src/runtime/runs/run-meter.ts";
import { anAgent, anItem } from "../../../helpers/agents.ts";
import { schedulerContext } from "../../../helpers/scheduler-context.ts";
import { runSession, type EndedSession } from "./run-session.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

/** A call as the store has it. */
export interface StoredCall {
  readonly model: string;
  readonly billing: string;
  readonly status: number | null;
  /** Input, cache reads, cache writes, those for an hour among them, and output. */
  readonly tokens: readonly (number | null)[];
  readonly nano: number;
  readonly estimated: boolean;
}

export interface MeteredSession extends EndedSession {
  readonly calls: readonly StoredCall[];
  /** Nano-dollars that the project's month was charged. */
  readonly charged: number;
}

/** Runs a session with the models of a project's config on their real way: pi, bridge, gateway, meter and store. */
export async function meteredSession(configText: string): Promise<MeteredSession> {
  const workDir = tempDir();
  const project = projectOf(configText, workDir);
  const agent = anAgent("dev", { models: Object.values(project.models) });
  const request = { instanceId: "dev-abcdefgh", agent, item: anItem("w1") };
  const run = { request, agent: agent.name, overBudget: null } as unknown as LiveRun;
  const context = schedulerContext({
    projectDir: workDir,
    project,
    credential: sources.credential,
    warn: () => undefined, // what a broken answer is reported with
  });
  const set = { type: "agent-set", agent: agent.name, at: 0, config: agent } as const;
  context.status.apply({ ...set, warnings: [], summary: "" });
  const runs = { of: () => [request.instanceId], get: () => run, find: () => run };
  const meter = createRunMeter(context, runs);
  const gateway = createModelCalls(context, runs, meter);
  const socket = join(workDir, "run.sock");
  const server = createServer((incoming, response) => {
    void gateway.handle(request.instanceId, incoming, response);
  });
  await once(server.listen(socket), "listening");
  const channel = () => Promise.resolve({ socket, token: "t" });
  const job = await prepareJob(request, workDir, { ...sources, channel });
  const ended = await runSession({ workDir, job });
  server.close();
  await gateway.close();
  const { calls, charged } = await storedIn(workDir);
  return { ...ended, calls, charged };
}

function projectOf(text: string, dir: string): ProjectConfig {
  const file = { dir, text, machineTimezone: "UTC", machineCores: 2 };
  const change = resolveProject(file, {});
  if (change.type === "set") return change.project;
  throw new Error(change.problems.map(({ message }) => message).join("\n"));
}

const sources: JobSources = {
  credential: () =>
    Promise.resolve({ type: "some_key", instance: "default", fields: { key: "real-key" } }),
  script: () => Promise.resolve({ turns: [{ text: "Done." }] }),
  checkCommand: () => Promise.resolve(),
  broker: () => Promise.resolve({ credentials: [], authority: null }),
  stage: () => [],
  files: () => Promise.resolve([]),
  payload: () => null,
  traceparent: () => undefined,
  orderModels: (models) => models,
  network: () => Promise.resolve(undefined),
  channel: () => Promise.resolve(null),
};

/** Reads the rows as another program does, when all calls are settled. */
async function storedIn(dir: string): Promise<Pick<MeteredSession, "calls" | "charged">> {
  using db = new DatabaseSync(join(dir, ".al", "state.db"), { readOnly: true });
  const open = db.prepare("SELECT count(*) AS calls FROM model_calls WHERE reserved IS NOT NULL");
  await expect.poll(() => open.get()?.calls).toBe(0);
  const month = "SELECT nano FROM spend WHERE scope = 'project' AND length(window) = 7";
  const rows = db.prepare("SELECT * FROM model_calls ORDER BY seq").all();
  const calls = rows.map((row) => ({
    model: String(row.model),
    billing: String(row.billing),
    status: row.status === null ? null : Number(row.status),
    tokens: [row.input, row.cache_read, row.cache_write, row.cache_write_1h, row.output].map(
      (count) => (count === null ? null : Number(count)),
    ),
    nano: Number(row.nano_usd),
    estimated: row.estimated === 1,
  }));
  return { calls, charged: Number(db.prepare(month).get()?.nano ?? 0) };
}
