import type { AuditReport } from "../../src/features/people/audit-report.ts";
import { forAll, slowly, type LiveProject } from "../helpers/live-project.ts";
import { isLong } from "../helpers/long.ts";
import { mcpClients, type McpClient } from "./mcp-clients.ts";
import { forged, mcpProject } from "./mcp-project.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let project: LiveProject;
forAll(async () => {
  project = await mcpProject();
});

type Answer = Readonly<Record<string, unknown>>;

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
  const problem = async (toolName: string, input?: object): Promise<Answer> => {
    const { content, isError } = await client.call(toolName, input);
    expect(isError).toBe(true);
    return JSON.parse(content[0]?.text ?? "") as Answer;
  };
  /** A run of an agent that has ended, or is known to have begun. */
  const started = async (of: string, wait: number): Promise<string> => {
    const { instanceId } = await ask("start", { agent: of, wait });
    return String(instanceId);
  };

  test("an MCP client speaks the revision, and gets each tool with schemas and annotations", async () => {
    expect(client.version()).toMatch(name.includes("2026") ? "2026-07-28" : /^2025-/);
    const listed = await client.tools();
    expect(listed.map((one) => one.name).sort()).toEqual(
      [
        "act",
        "agent",
        "list_agents",
        "log",
        "questions",
        "run",
        "runs",
        "search",
        "start",
        "why_not",
      ].sort(),
    );
    expect(listed.filter((one) => one.outputSchema === undefined)).toEqual([]);
    const writing = listed.filter((one) => one.annotations?.readOnlyHint !== true);
    expect(writing.map((one) => one.name).sort()).toEqual(["act", "start"]);
    // A tool's description and input cost its client context in each conversation.
    const inputs = listed.map((one) => ({ ...one, outputSchema: null }));
    expect(JSON.stringify(inputs).length).toBeLessThan(12_000);
  });

  test("an MCP client lists agents and shows one", async () => {
    const { agents, scheduler, next } = await ask("list_agents");
    expect(agents).toMatchObject([{ name: "asks" }, { name: "held" }, { name: "quick" }]);
    expect({ scheduler, next }).toMatchObject({ scheduler: { paused: false }, next: null });
    expect(await ask("agent", { agent: "quick" })).toMatchObject({
      agent: { name: "quick", enabled: true, untrusted: { title: "quick" } },
      nextTicks: expect.any(Array) as unknown,
    });
    expect(await problem("agent", { agent: "nobody" })).toMatchObject({ error: "unknown_agent" });
  });

  const testThoroughly = test.runIf(thorough.includes(name));

  testThoroughly("starts a run once for each key, waits for it, and reads it", async () => {
    const key = `key of ${name}`;
    const first = await ask("start", { agent: "quick", idempotencyKey: key, wait: 50 });
    expect(first).toMatchObject({ repeated: false, queued: false, run: { outcome: "succeeded" } });
    const again = await ask("start", { agent: "quick", idempotencyKey: key });
    expect(again).toMatchObject({ repeated: true, instanceId: first.instanceId });
    expect(again.triggerId).toBe(first.triggerId);
    const other = { agent: "quick", idempotencyKey: key, prompt: "Other." };
    expect(await problem("start", other)).toMatchObject({ error: "conflict" });
    const { instanceId } = first;
    expect(await ask("run", { instanceId })).toMatchObject({
      run: {
        instanceId,
        outcome: "succeeded",
        spend: { usd: 0 },
        untrusted: { lastWords: "Done." },
      },
    });
    const { runs } = await ask("runs", { agent: "quick", limit: 1 });
    expect(runs).toMatchObject([{ instanceId, outcome: "succeeded", untrusted: { event: null } }]);
  });

  testThoroughly(
    "reads the log around a match of the search, and keeps the text of runs in the field untrusted",
    async () => {
      const instanceId = await started("quick", 50);
      const { lines } = await ask("log", { instanceId });
      const texts = lines as readonly { readonly untrusted: { readonly msg: string } }[];
      expect(texts.map(({ untrusted }) => untrusted.msg)).toContain(forged.trim());
      for (const line of texts) {
        expect(Object.keys(line).sort()).toEqual(
          ["at", "instanceId", "level", "position", "untrusted"].sort(),
        );
      }
      const found = async () => ask("search", { q: "needle", instance: instanceId });
      await expect.poll(async () => (await found()).runs, slowly).toHaveLength(1);
      const { runs } = (await found()) as {
        runs: readonly [{ untrusted: { matches: readonly [{ position: string }] } }];
      };
      const { position } = runs[0].untrusted.matches[0];
      const around = await ask("log", { agent: "quick", around: position, limit: 4 });
      const positions = (around.lines as readonly { position: string }[]).map(
        (one) => one.position,
      );
      expect(positions.indexOf(position)).toBe(1);
      expect(await problem("log", {})).toMatchObject({ error: "malformed" });
      expect(await problem("log", { agent: "nobody" })).toMatchObject({ error: "unknown_agent" });
    },
  );

  testThoroughly("steers, kills, replays and continues runs, pauses and resumes", async () => {
    const instanceId = await started("held", 3);
    const act = (action: string, target: string, more = {}) =>
      ask("act", { action, target, ...more });
    expect(await ask("run", { instanceId })).toMatchObject({ run: { outcome: null } });
    await act("steer", instanceId, { text: "Be brief." });
    expect(await problem("act", { action: "steer", target: instanceId })).toMatchObject({
      error: "malformed",
    });
    await act("kill", instanceId);
    const { run } = (await ask("run", { instanceId, wait: 50 })) as { run: Answer };
    expect(run).toMatchObject({ outcome: "killed", isKept: true });
    await act("pause", "held");
    const { untrusted } = await ask("why_not", { agent: "held" });
    expect(JSON.stringify(untrusted)).toContain("disabled");
    expect(await problem("start", { agent: "held" })).toMatchObject({ error: "disabled" });
    await act("resume", "held");
    await act("pause_all", "");
    expect(await ask("list_agents")).toMatchObject({ scheduler: { paused: true } });
    await act("resume_all", "");

    await act("continue", instanceId, { text: "Now go on." });
    await act("replay", String(run.id));
    const { runs } = (await ask("runs", { agent: "held", limit: 2 })) as { runs: Answer[] };
    expect(runs).toMatchObject([{ replayOf: run.id, kind: "manual" }, { kind: "manual" }]);
    await act("kill_all", "held");
    await expect.poll(async () => (await project.agent("held"))?.running, slowly).toBe(0);
    const { entries } = await project.json<AuditReport>("/api/audit?agent=held&limit=5");
    expect(entries.map((one) => one.act)).toEqual(
      expect.arrayContaining(["kill", "replay", "continue", "enable"]),
    );
  });

  testThoroughly("lists and answers a question", async () => {
    const instanceId = await started("asks", 0);
    const asked = async () => (await ask("questions", { agent: "asks" })).questions;
    await expect.poll(asked, slowly).toHaveLength(1);
    const [question] = (await asked()) as readonly [Answer];
    expect(question).toMatchObject({ instanceId, untrusted: { prompt: "Deploy?" } });
    await ask("act", { action: "answer", target: question.id, answer: "yes" });
    expect(await ask("run", { instanceId, wait: 50 })).toMatchObject({
      run: { outcome: "succeeded" },
    });
    const twice = { action: "answer", target: question.id, answer: "no" };
    expect(await problem("act", twice)).toMatchObject({ error: "answered" });
  });

  test("an MCP client gets progress while it waits", async () => {
    let count = 0;
    const { structuredContent } = await client.call(
      "start",
      { agent: "held", wait: 3 },
      () => (count += 1),
    );
    expect(structuredContent).toMatchObject({ run: { outcome: null } });
    expect(count).toBeGreaterThan(1);
    await ask("act", { action: "kill_all", target: "held" });
  });
});
