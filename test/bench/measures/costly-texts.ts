import { mkdir, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { logFileOf, logsDir } from "../../../src/foundation/logs/log-files.ts";
import { objectOfKeys } from "../../faults/load/hostile-runs/attack.ts";
import type { TestScheduler } from "../../helpers/scheduler.ts";
import { agentName, benchProject } from "../bench-project.ts";
import { figureOf, type Figure, type Measure } from "../figure.ts";
import { askHealth } from "../health.ts";
import { residentMb, withScheduler } from "../with-scheduler.ts";

const agent = agentName(0);
const instanceId = `${agent}-aaaaaaaa`;

/** How long others wait, and how much memory is held, while texts are read and parsed whose form costs the most time. */
export const costlyTexts: Measure = {
  name: "costly-texts",
  run: async ({ quick }) => {
    const project = await benchProject({ count: 1, config: () => "" });
    await writeLog(project.dir);
    return withScheduler(Promise.resolve(project), (scheduler) => measured(scheduler, quick));
  },
};

/** A page of lines of 8 kB that look like the beginning of a run's id again and again. */
async function writeLog(projectDir: string): Promise<void> {
  const [dir, time] = [logsDir(projectDir), Date.now()];
  const line = { level: 30, time, agent, instanceId, kind: "run", msg: "-aaaaaaa".repeat(1_000) };
  await mkdir(dir, { recursive: true });
  const file = join(dir, logFileOf(agent, time).name);
  await writeFile(file, `${JSON.stringify(line)}\n`.repeat(300));
}

async function measured(scheduler: TestScheduler, quick: boolean): Promise<readonly Figure[]> {
  const { url, apiKey } = scheduler;
  const limits = { name: "reader", scopes: ["read"], agents: [agent], days: 1 };
  const body = JSON.stringify(limits);
  const made = await send(url, "/api/tokens", 201, { token: apiKey, body });
  const { token } = JSON.parse(made) as { readonly token: string };
  const count = quick ? 10 : 100;
  const read = async (): Promise<void> => {
    for (let n = 0; n < count / 10; n += 1) {
      await send(url, `/api/logs/agents/${agent}?limit=300`, 200, { token });
    }
  };
  const deliver = (keys: number, status: number) => {
    // Made beforehand, as the same process measures.
    const bodies = Array.from({ length: count }, (_none, n) => objectOfKeys(keys, `k${n}_`));
    return () =>
      Promise.all(
        bodies.map((body) => send(url, "/webhooks/github/open-github", status, { body })),
      );
  };
  const loads = [
    [`${count / 10} pages of costly log lines for a limited token`, read],
    [`${count} deliveries with 49000 keys each`, deliver(49_000, 413)],
    [`${count} deliveries with 19900 keys each`, deliver(19_900, 200)],
  ] as const;
  const figures: Figure[] = [];
  for (const [name, load] of loads) {
    const floor = await askHealth(url, () => wait(2_000));
    const latencies = await askHealth(url, load);
    const target = { p99: 250 };
    figures.push(figureOf(`${name}: GET /health`, "ms", latencies, { floor, target }));
    const memory = [await residentMb(scheduler.pid)];
    figures.push(figureOf(`${name}: memory`, "MB", memory, { target: { most: 400 } }));
  }
  return figures;
}

/** More bodies at once are refused for the memory they take. */
const connections = new Agent({ maxSockets: 20 });

/** Resolves with the answer's text; rejects unless it has this status. */
function send(
  url: string,
  path: string,
  status: number,
  { token, body }: { readonly token?: string; readonly body?: string },
): Promise<string> {
  const address = new URL(path, url.replace("localhost", "127.0.0.1"));
  const headers = {
    "content-type": "application/json",
    "x-github-event": "push",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  return new Promise((resolve, reject) => {
    const method = body === undefined ? "GET" : "POST";
    const sent = request(address, { method, headers, agent: connections }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("end", () => {
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode === status) resolve(text);
        else reject(new Error(`${path}: ${response.statusCode ?? 0} ${text.slice(0, 300)}`));
      });
    });
    sent.once("error", reject);
    sent.end(body);
  });
}
