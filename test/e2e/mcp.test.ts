import type { AuditReport } from "../../src/features/people/audit-report.ts";
import { forAll, LiveProject, slowly } from "../helpers/live-project.ts";
import { isLong } from "../helpers/long.ts";
import { mcpClients, type McpClient } from "./mcp-clients.ts";
import { forged, mcpProject } from "./mcp-project.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let project: LiveProject;
forAll(async () => {
  project = await mcpProject();
});

type Answer = Readonly<Record<string, unknown>>;

const tools = [
  "list_agents",
  "agent",
  "runs",
  "run",
  "files",
  "read_file",
  "log",
  "search",
  "why_not",
  "memory",
  "questions",
];
const writingTools = ["start", "act"];
/** The clients that use every tool in the ordinary tests: each revision and each transport once. */
const thorough = isLong ? Object.keys(mcpClients) : ["HTTP, 2026-07-28", "stdio, 2025"];

describe.each(Object.entries(mcpClients))("an MCP client (%s)", (name, connect) => {
  let client: McpClient;
  beforeAll(async () => void (client = await connect(project)));
  afterAll(() => client.close());

  /** The structured answer, which the text repeats; each is within its limit. */
  const ask = async (toolName: string, input?: object): Promise<Answer> => {
    const { content, structuredContent, isError } = await client.call(toolName, input);
    const text = content[0]?.text ?? "";
    expect({ text, isError: isError ?? false }).toMatchObject({ isError: false });
    expect(JSON.parse(text)).toEqual(structuredContent);
    expect(text.length).toBeLessThanOrEqual(20_000);
    return structuredContent ?? {};
  };
  const fails = async (toolName: string, input: object, error: string): Promise<void> => {
    const { content, isError } = await client.call(toolName, input);
    expect([isError, JSON.parse(content[0]?.text ?? "")]).toMatchObject([true, { error }]);
  };
  /** A run of an agent that has ended, or is known to have begun. */
  const started = async (of: string, wait: number): Promise<string> => {
    const { instanceId } = await ask("start", { agent: of, wait });
    return String(instanceId);
  };

  test("gets each tool with schemas and annotations, and progress messages while it waits", async () => {
    expect(client.version()).toMatch(name.includes("2026") ? "2026-07-28" : /^2025-/);
    const listed = await client.tools();
    const namesOf = (some: typeof listed) => some.map((one) => one.name).sort();
    expect(namesOf(listed)).toEqual([...tools, ...writingTools].sort());
    expect(listed.filter((one) => one.outputSchema === undefined)).toEqual([]);
    const writing = listed.filter((one) => one.annotations?.readOnlyHint !== true);
    expect(namesOf(writing)).toEqual(writingTools.toSorted());
    // A tool's description and input cost its client context in each conversation.
    const inputs = listed.map((one) => ({ ...one, outputSchema: null }));
    expect(JSON.stringify(inputs).length).toBeLessThan(12_000);
    let count = 0;
    const held = { agent: "held", wait: 3 };
    const { structuredContent } = await client.call("start", held, () => (count += 1));
    expect(structuredContent).toMatchObject({ run: { outcome: null } });
    expect(count).toBeGreaterThan(1);
    await ask("act", { action: "kill_all", target: "held" });
  });

  const testThoroughly = test.runIf(thorough.includes(name));

  testThoroughly(
    "lists agents, starts one run per idempotency key, and reads the run",
    async () => {
      expect(await ask("list_agents")).toMatchObject({
        agents: [{ name: "asks" }, { name: "held" }, { name: "quick" }],
        scheduler: { paused: false },
        next: null,
      });
      expect(await ask("agent", { agent: "quick" })).toMatchObject({
        agent: { name: "quick", enabled: true, untrusted: { title: "quick" } },
        nextTicks: expect.any(Array) as unknown,
      });
      await fails("agent", { agent: "nobody" }, "unknown_agent");
      const once = { agent: "quick", idempotencyKey: `key of ${name}` };
      const { instanceId, triggerId, ...first } = await ask("start", { ...once, wait: 50 });
      expect(first).toMatchObject({
        repeated: false,
        queued: false,
        run: { outcome: "succeeded" },
      });
      expect(await ask("start", once)).toMatchObject({ repeated: true, instanceId, triggerId });
      await fails("start", { ...once, prompt: "Other." }, "conflict");
      const outcome = "succeeded";
      expect(await ask("run", { instanceId })).toMatchObject({
        run: { instanceId, outcome, spend: { usd: 0 }, untrusted: { lastWords: "Done." } },
      });
      expect(await ask("runs", { agent: "quick", limit: 1 })).toMatchObject({
        runs: [{ instanceId, outcome, untrusted: { event: null } }],
      });
    },
  );

  testThoroughly(
    "reads log lines around a search match, with texts of runs in the field untrusted",
    async () => {
      const instanceId = await started("quick", 50);
      const { lines } = await ask("log", { instanceId });
      const texts = lines as readonly { readonly untrusted: { readonly msg: string } }[];
      expect(texts.map(({ untrusted }) => untrusted.msg)).toContain(forged.trim());
      const keys = ["at", "instanceId", "level", "position", "untrusted"];
      for (const line of texts) expect(Object.keys(line).sort()).toEqual(keys);
      const found = async () => (await ask("search", { q: "needle", instance: instanceId })).runs;
      await expect.poll(found, slowly).toHaveLength(1);
      const [run] = (await found()) as [{ untrusted: { matches: [{ position: string }] } }];
      const { position } = run.untrusted.matches[0];
      const around = await ask("log", { agent: "quick", around: position, limit: 4 });
      expect((around.lines as object[])[1]).toMatchObject({ position });
      await fails("log", {}, "malformed");
      await fails("log", { agent: "nobody" }, "unknown_agent");
    },
  );

  testThoroughly(
    "lists the files of a run and reads a text, both in the field untrusted",
    async () => {
      const instanceId = await started("quick", 50);
      const file = { path: "report.md", kind: "text", bytes: 8_012 };
      expect(await ask("files", { instanceId })).toMatchObject({
        bytes: 8_012,
        untrusted: { files: [file], leftOut: { files: [], more: 0 } },
      });
      const read = (from: number) => ask("read_file", { instanceId, path: "report.md", from });
      const text = `${"0".repeat(10)}</untrusted>`;
      expect(await read(7_990)).toMatchObject({ next: null, untrusted: { text } });
      expect(await read(0)).toMatchObject({ bytes: 8_012, next: null, cut: false });
      await fails("read_file", { instanceId, path: "none" }, "not_found");
    },
  );

  testThoroughly("steers, kills, replays and continues runs, pauses and resumes", async () => {
    const instanceId = await started("held", 3);
    const act = (action: string, target: string, more = {}) =>
      ask("act", { action, target, ...more });
    await act("steer", instanceId, { text: "Be brief." });
    await fails("act", { action: "steer", target: instanceId }, "malformed");
    await act("kill", instanceId);
    const { run } = (await ask("run", { instanceId, wait: 50 })) as { run: Answer };
    expect(run).toMatchObject({ outcome: "killed", isKept: true });
    await act("pause", "held");
    const { untrusted } = await ask("why_not", { agent: "held" });
    expect(JSON.stringify(untrusted)).toContain("Disabled");
    await fails("start", { agent: "held" }, "disabled");
    await act("resume", "held");
    await act("pause_all", "");
    expect(await ask("list_agents")).toMatchObject({ scheduler: { paused: true } });
    await act("resume_all", "");

    await act("continue", instanceId, { text: "Now go on." });
    await act("replay", String(run.id));
    expect(await ask("runs", { agent: "held", limit: 2 })).toMatchObject({
      runs: [{ replayOf: run.id, kind: "manual" }, { kind: "manual" }],
    });
    await act("kill_all", "held");
    await expect.poll(async () => (await project.agent("held"))?.running, slowly).toBe(0);
    const { entries } = await project.json<AuditReport>("/api/audit?agent=held&limit=5");
    const acts = ["kill", "replay", "continue", "enable"];
    expect(entries.map((one) => one.act)).toEqual(expect.arrayContaining(acts));
  });

  testThoroughly(
    "shows memories, with their files and versions in the field untrusted",
    async () => {
      await started("quick", 50);
      expect(await ask("memory")).toMatchObject({ memories: [{ name: "quick", files: 1 }] });
      expect(await ask("memory", { memory: "quick" })).toMatchObject({
        memory: { version: 1, untrusted: { files: [{ path: "notes.md", bytes: 7 }] } },
        versions: [{ n: 1, untrusted: { changes: { count: 1 } } }],
      });
      const text = async (part: object) =>
        (await ask("memory", { memory: "quick", ...part })).content;
      expect(await text({ path: "notes.md" })).toEqual({ untrusted: { text: "needle\n" } });
      expect(await text({ version: 1 })).toMatchObject({
        untrusted: { text: expect.stringContaining("\n+needle\n") as string },
      });
      await fails("memory", { memory: "nobody" }, "unknown_memory");
    },
  );

  testThoroughly("lists and answers a question", async () => {
    const instanceId = await started("asks", 0);
    const asked = async () => (await ask("questions", { agent: "asks" })).questions;
    await expect
      .poll(asked, slowly)
      .toMatchObject([{ instanceId, untrusted: { prompt: "Deploy?" } }]);
    const [{ id }] = (await asked()) as readonly [Answer];
    const answer = { action: "answer", target: id, answer: "yes" };
    await ask("act", answer);
    const ended = { run: { outcome: "succeeded" } };
    expect(await ask("run", { instanceId, wait: 50 })).toMatchObject(ended);
    await fails("act", answer, "answered");
  });
});

/** A client with a new API token of this name, for the agent `quick`. */
async function connectAs(name: string, scope: string): Promise<McpClient> {
  const body = { name, scopes: [scope], agents: ["quick"], days: 1 };
  const made = await project.post("/api/tokens", body);
  const { token } = (await made.json()) as { readonly token: string };
  const client = await mcpClients["HTTP, 2026-07-28"]?.(project, token);
  if (client === undefined) throw new Error("no client");
  onTestFinished(() => client.close());
  return client;
}

test("an MCP client has the rights of its token, and the audit trail names the token", async () => {
  const reads = await connectAs("reads", "read");
  const { content: listed } = await reads.call("list_agents");
  expect(listed[0]?.text).toMatch(/^(?!.*"held").*"quick"/);
  for (const [tool, input, scope] of [
    ["start", { agent: "quick" }, "trigger"],
    ["act", { action: "pause", target: "quick" }, "control"],
    ["act", { action: "answer", target: "none", answer: "yes" }, "answer"],
  ] as const) {
    const { content } = await reads.call(tool, input);
    expect(content[0]?.text).toContain(`lacks the scope ${scope}`);
  }
  const acting = await connectAs("acts", "trigger");
  await acting.call("start", { agent: "quick" });
  const entries = async () => (await project.json<AuditReport>("/api/audit?by=acts")).entries;
  const by = { via: "token", name: "acts" };
  await expect.poll(entries, slowly).toMatchObject([{ act: "trigger", by }]);
});

test("an MCP client lists the tools even if no scheduler runs, and each tool then says to run al start", async () => {
  const idle = await LiveProject.hello();
  const client = await mcpClients["stdio, 2026-07-28"]?.(idle);
  expect(await client?.tools()).toHaveLength(tools.length + writingTools.length);
  const { content = [], isError } = (await client?.call("list_agents")) ?? {};
  const error = { error: "not_running", hint: "Start it with `al start`." };
  expect([isError, JSON.parse(content[0]?.text ?? "")]).toMatchObject([true, error]);
  await client?.close();
});
