import { randomUUID } from "node:crypto";
import { appendFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import type { QuestionsView } from "../../src/foundation/contracts/question-views.ts";
import { postJson } from "../../src/runtime/wire/post-json.ts";
import { runLogLine } from "../../src/runtime/runners/host-user/run-log.ts";
import { hashOf, socketName } from "../../src/runtime/run-api/socket-dir.ts";
import { ownUser } from "../helpers/command-agents.ts";
import { webhookSecret } from "../features/alerts/fake-apis.ts";
import { filesBelow } from "../helpers/files-below.ts";
import { slowly, type LiveProject } from "../helpers/live-project.ts";
import { bash, scriptedAgents } from "../helpers/scripted-agents.ts";
import { otlpCollector } from "../helpers/otlp-collector.ts";
import { messagesWith, requestsWith } from "./canary-fields.ts";
import { answer, hostileServer } from "./hostile-mcp-server.ts";
import { listen } from "../helpers/listen.ts";

/** A secret that appears nowhere else. */
const raw = "canary-of-raw-requests-4f81c0d2e7";
let project: LiveProject;

/** Name and text of a place where the secret might be. */
type Place = readonly [string, string];
const leaks = (places: readonly Place[]) =>
  places.flatMap(([place, text]) => {
    const at = text.indexOf(raw);
    return at === -1 ? [] : [`${place}: ${text.slice(Math.max(0, at - 80), at)}`];
  });

/** A webhook that keeps the alerts which it gets. */
async function alertReceiver() {
  const alerts: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => alerts.push(body));
    response.end();
  });
  onTestFinished(() => void server.close().closeAllConnections());
  return { alerts, url: `http://127.0.0.1:${await listen(server)}/` };
}

/** The socket of a run, with a token that the test knows: the run's own stays in its process. */
function takeSocket(instanceId: string): { socketPath: string; token: string } {
  const token = "token-of-the-test";
  using db = new DatabaseSync(project.path(".al/state.db"));
  const change = db.prepare(
    "UPDATE channels SET token_hash = ? WHERE instance_id = ? RETURNING dir",
  );
  const row = change.get(hashOf(token), instanceId);
  return { socketPath: join(String(row?.dir), socketName), token };
}

/** Kept sessions are compressed. */
function sessionTexts(): string {
  using db = new DatabaseSync(project.path(".al/state.db"));
  const rows = db.prepare("SELECT entries FROM run_sessions").all();
  return rows.map(({ entries }) => gunzipSync(entries as Uint8Array).toString()).join("\n");
}

test("credentials in any field of a run's requests and messages appear nowhere, even if the run redacts nothing", async () => {
  const { alerts, url } = await alertReceiver();
  const collector = await otlpCollector();
  const server = await hostileServer({ echo: (response, { id }) => answer(response, id, raw) });
  server.state.description = raw;
  project = await scriptedAgents(
    {
      other: {},
      hostile: {
        turns: bash("sleep 600"),
        credentials: ["my_raw"],
        config: `${ownUser}[approve]
agents = ["other"]
tools = ["evil.echo"]
[[mcp]]
name = "evil"
url = "${server.url}"
private = true
tools = ["*"]
[[mcp]]
name = "inside"
command = ["true"]
tools = ["*"]
`,
      },
    },
    `[alerts.ops]
type = "webhook"
credential = "alert_webhook"
[telemetry]
otlp = "${collector.url}"
content = true
`,
  );
  await project.store("my_raw", { word: raw });
  await project.store("alert_webhook", { url, secret: webhookSecret });
  await project.start();
  await project.trigger("hostile");
  await expect.poll(() => project.messages("hostile", "tool"), slowly).toHaveLength(1);
  const instanceId = (await project.latest("hostile"))?.instanceId ?? "";
  await project.scheduler.kill();
  const { socketPath, token } = takeSocket(instanceId);
  // The run's own process removes its secrets from these.
  const lines = [...messagesWith(raw).map((line) => ["out", line] as const), ["err", raw] as const];
  const written = lines.map(([kind, line]) => runLogLine(kind, line)).join("");
  await appendFile(`/tmp/al-runs/${instanceId}.log`, written);
  await project.start();
  const over = new AbortController();
  const stream = { text: "" };
  void follow(stream).catch(() => undefined);
  const answers: Promise<unknown>[] = [];
  const asked = new Set<string>();
  /** Whether the request got an answer, or asks a person. The context of a call would reach the other agent as it is. */
  const hasGone = async (isAnswered: boolean): Promise<boolean> => {
    const open = await openQuestions();
    for (const { id, kind } of open) {
      if (kind !== "ask") await give(id, kind === "call" ? "deny" : "once");
    }
    const isNew = open.some(({ id, kind }) => kind === "ask" && !asked.has(id));
    for (const { id } of open) asked.add(id);
    return isAnswered || isNew;
  };
  for (const { name, body } of requestsWith(raw)) {
    const headers = { authorization: `Bearer ${token}`, "idempotency-key": randomUUID() };
    const post = { socketPath, path: `/run/${name}`, headers, body, signal: over.signal };
    const answered = postJson(post).catch((error: unknown) => error);
    answers.push(answered);
    let isAnswered = false;
    void answered.then(() => (isAnswered = true));
    await expect
      .poll(() => hasGone(isAnswered), { ...slowly, message: `${name} ${JSON.stringify(body)}` })
      .toBe(true);
  }
  const questions = await openQuestions();
  expect(questions.map(({ form }) => form.kind)).toEqual(
    expect.arrayContaining(["choice", "text"]),
  );
  for (const { id, form } of questions) {
    await give(id, form.kind === "choice" ? (form.choices.at(-1) ?? "") : `It is ${raw}.`);
  }
  const got = JSON.stringify(await Promise.all(answers));
  expect(got).toContain(`"answer":"It is ${raw}."`);
  const live = await seenPlaces(instanceId);
  await project.post(`/control/kill/${instanceId}`);
  await expect.poll(async () => (await project.latest("hostile"))?.outcome, slowly).toBe("killed");
  await expect.poll(() => collector.spans.length, slowly).toBeGreaterThan(0);
  await expect.poll(() => alerts.join(""), slowly).toContain("Where?[redacted]");
  expect(sessionTexts()).toContain("[redacted]");
  const log = await project.print("logs", "hostile", "-n", "1000");
  expect(log).toContain("answered: It is [redacted]");
  const places = async (): Promise<readonly Place[]> => [
    ...live,
    ...(await seenPlaces(instanceId)),
    ...(await filesBelow(project.path(".al"), "utf8")),
    ...([
      ["sessions", sessionTexts()],
      ["alerts", alerts.join("")],
      ["stream", stream.text],
    ] as const),
    ["spans", JSON.stringify(collector.spans)],
    ["scheduler", project.scheduler.output()],
  ];
  await expect.poll(async () => leaks(await places()), slowly).toEqual([]);
}, 180_000);

/** Reads the stream of the status until the scheduler stops. */
async function follow(stream: { text: string }): Promise<void> {
  const { body } = await project.scheduler.api("/dashboard/api/status-stream");
  for await (const chunk of body ?? []) stream.text += Buffer.from(chunk).toString();
}

const give = (id: string, answer: string) =>
  project.post(`/api/questions/${id}/answer`, { answer });
const openQuestions = async () =>
  (await project.json<QuestionsView>("/api/questions?state=open&limit=200")).questions;

/** What people and programs can read of a run. */
async function seenPlaces(instanceId: string): Promise<readonly Place[]> {
  const agent = "/dashboard/agents/hostile";
  const pages = `
/control/status /api/stats/triggers /api/questions /api/alerts /api/audit /api/runs/${instanceId}?prompt=true
/api/logs/agents/hostile?limit=300 /api/search?q=redacted /api/agents/hostile/hosts /api/tokens /metrics
/dashboard /dashboard/questions /dashboard/alerts /dashboard/audit
${agent} ${agent}/runs/${instanceId} ${agent}/runs/${instanceId}/log`;
  const read = pages
    .trim()
    .split(/\s+/)
    .map(async (path): Promise<Place> => [path, await (await project.scheduler.api(path)).text()]);
  const commands = ["logs hostile -n 1000", `show ${instanceId}`, "questions", "audit", "stat"];
  const printed = commands.map(async (line): Promise<Place> => {
    const { stdout, stderr } = await project.al(...line.split(" "));
    return [`al ${line}`, stdout + stderr];
  });
  return Promise.all([...read, ...printed]);
}
