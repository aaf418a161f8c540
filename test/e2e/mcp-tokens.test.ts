import type { AuditReport } from "../../src/features/people/audit-report.ts";
import type { QuestionsView } from "../../src/foundation/contracts/question-views.ts";
import { forAll, LiveProject, slowly } from "../helpers/live-project.ts";
import { mcpClients } from "./mcp-clients.ts";
import { mcpProject } from "./mcp-project.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let project: LiveProject;
forAll(async () => {
  project = await mcpProject();
});

describe.each(Object.entries(mcpClients).filter(([name]) => name.startsWith("HTTP")))(
  "an API token (%s)",
  (name, connect) => {
    const tokenOf = async (more: object): Promise<string> => {
      const asked = { name: `t${Math.random().toString(36).slice(2, 10)}`, days: 1, ...more };
      const made = (await (await project.post("/api/tokens", asked)).json()) as { token: string };
      expect(made.token).toMatch(/^al_/);
      return made.token;
    };
    const scopes = ["read", "trigger", "control", "answer"];

    test("a token that is limited to one agent reads and changes no other agent", async () => {
      expect(await project.trigger("held", "asks")).toEqual([202, 202]);
      const latest = async (agent: string) => (await project.latest(agent))?.instanceId;
      await expect.poll(() => latest("held"), slowly).toBeTypeOf("string");
      const open = async () =>
        (await project.json<QuestionsView>("/api/questions?state=open&agent=asks")).questions;
      await expect.poll(open, slowly).toHaveLength(1);
      const [question = { id: "" }] = await open();
      const [entry] = await project.history("agent=held");
      const { id = "", instanceId } = entry ?? {};
      const client = await connect(project, await tokenOf({ scopes, agents: ["quick"] }));

      const refused: readonly [tool: string, input: object][] = [
        ["agent", { agent: "held" }],
        ["runs", { agent: "held" }],
        ["run", { instanceId }],
        ["log", { agent: "held" }],
        ["log", { instanceId }],
        ["log", { agent: "scheduler" }],
        ["search", { q: "needle", agent: "held" }],
        ["why_not", { agent: "held" }],
        ["questions", { agent: "asks" }],
        ["start", { agent: "held", wait: 1 }],
        ["act", { action: "replay", target: id }],
        ["act", { action: "kill", target: instanceId }],
        ["act", { action: "kill_all", target: "held" }],
        ["act", { action: "pause", target: "held" }],
        ["act", { action: "resume", target: "held" }],
        ["act", { action: "pause_all" }],
        ["act", { action: "resume_all" }],
        ["act", { action: "answer", target: question.id, answer: "yes" }],
        ["act", { action: "steer", target: instanceId, text: "Stop." }],
        ["act", { action: "continue", target: instanceId, text: "Go on." }],
      ];
      for (const [tool, input] of refused) {
        const { content, isError } = await client.call(tool, input);
        expect({ tool, input, isError }).toEqual({ tool, input, isError: true });
        expect(content[0]?.text).toMatch(/"error":"(forbidden|unknown_\w+)"/);
      }
      const lists: readonly [tool: string, input: object][] = [
        ["list_agents", {}],
        ["agent", { agent: "quick" }],
        ["runs", {}],
        ["search", { q: "needle" }],
        ["questions", {}],
        ["log", { agent: "quick", instanceId }],
      ];
      for (const [tool, input] of lists) {
        const { content, isError = false } = await client.call(tool, input);
        expect({ tool, isError }).toEqual({ tool, isError: false });
        expect(content[0]?.text).not.toMatch(/held|asks/);
      }
      expect(
        (await client.call("start", { agent: "quick", wait: 50 })).structuredContent,
      ).toMatchObject({ run: { outcome: "succeeded" } });
      await client.close();
      expect((await project.agent("held"))?.running).toBe(1);
      await project.post("/control/agents/held/kill");
      await project.post(`/api/questions/${question.id}/answer`, { answer: "no" });
    });

    test("a token without a scope gets an error that names it, and the audit trail names the token", async () => {
      const token = { scopes: ["read"], name: `reads-${name.length}` };
      const reads = await connect(project, await tokenOf(token));
      const problems: readonly [tool: string, input: object, scope: string][] = [
        ["start", { agent: "quick" }, "trigger"],
        ["act", { action: "pause", target: "quick" }, "control"],
        ["act", { action: "answer", target: "none", answer: "yes" }, "answer"],
      ];
      for (const [tool, input, scope] of problems) {
        const { content } = await reads.call(tool, input);
        expect(content[0]?.text).toContain(`lacks the scope ${scope}`);
      }
      await reads.close();
      const acts = { scopes: ["trigger", "control"], name: `acts-${name.length}` };
      const acting = await connect(project, await tokenOf(acts));
      await acting.call("start", { agent: "quick" });
      await acting.call("act", { action: "resume", target: "quick" });
      await acting.close();
      const actsOf = async () =>
        (await project.json<AuditReport>(`/api/audit?by=${acts.name}`)).entries;
      await expect.poll(actsOf, slowly).toMatchObject([
        { act: "enable", by: { via: "token", name: acts.name } },
        { act: "trigger", by: { via: "token", name: acts.name } },
      ]);
    });

    test("a token that is wrong gets no client", () =>
      expect(connect(project, `al_${"a".repeat(43)}`)).rejects.toThrow(/401|[Uu]nauthorized/));
  },
);

describe("without a scheduler", () => {
  test.each(["stdio, 2026-07-28", "stdio, 2025"])(
    "each tool of a client (%s) is listed, and says al start",
    async (name) => {
      const idle = await LiveProject.hello();
      const client = await mcpClients[name]?.(idle);
      expect(await client?.tools()).toHaveLength(10);
      const answer = await client?.call("list_agents");
      expect(answer).toMatchObject({ isError: true });
      expect(JSON.parse(answer?.content[0]?.text ?? "")).toMatchObject({
        error: "not_running",
        hint: "al start starts one",
      });
      await client?.close();
    },
  );
});
