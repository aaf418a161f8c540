import { ownUser } from "../helpers/command-agents.ts";
import type { LiveProject } from "../helpers/live-project.ts";
import { bash, scriptedAgents, turn } from "../helpers/scripted-agents.ts";
import { openQuestions, toolResults } from "./asking-project.ts";
import { answer, attacks, hostileServer, instructions, victim } from "./hostile-mcp-server.ts";

vi.setConfig({ testTimeout: 300_000 });
/** For a busy machine. */
const slowly = { timeout: 120_000, interval: 200 };
const secret = "canary-mcp-token-8d2f41";
const neighbour = "canary-neighbour-93aa07";
const mcp = (url: string, name = "evil", timeout = 8): string =>
  `[[mcp]]\nname = "${name}"\nurl = "${url}"\nprivate = true\ntools = ["*"]\ntimeout = ${timeout}\ncredential = "mcp_token"\n`;
/** The attacks that last until their call's limit, which is shorter than that of the others. */
const endless = ["endless-events", "slow"];

/** A project whose agent `worker` calls these tools one after another, and an agent with a secret of its own beside it. */
async function projectOf(url: string, tools: readonly string[], more = ""): Promise<LiveProject> {
  const turns = tools.map((tool) =>
    turn(`${endless.includes(tool) ? "late" : "evil"}__${tool}`, '{ text = "hi" }'),
  );
  const project = await scriptedAgents({
    worker: { turns: turns.join(""), config: ownUser + mcp(url) + more },
    other: { turns: bash("sleep 3"), credentials: ["my_own"] },
  });
  await project.store("mcp_token", { token: secret });
  await project.store("my_own", { word: neighbour });
  await project.start();
  return project;
}

const succeeded = (project: LiveProject, agent: string, count = 1) =>
  expect
    .poll(
      async () =>
        (await project.history(`agent=${agent}`)).filter(({ outcome }) => outcome === "succeeded")
          .length,
      slowly,
    )
    .toBe(count);

test("a hostile MCP server can only fail its own calls; it reaches no credential, host or other run", async () => {
  const target = await victim();
  const behaviours = attacks(target.url);
  const tools = Object.keys(behaviours);
  const { url, state } = await hostileServer(behaviours);
  const gone =
    mcp("http://192.0.2.99:9/mcp", "gone", 2) + mcp("http://127.0.0.1:9/mcp", "loopback");
  const project = await projectOf(url, tools, mcp(url, "late", 4) + gone);
  await project.trigger("worker", "other");
  await Promise.all([succeeded(project, "worker"), succeeded(project, "other")]);
  const results = await toolResults(project, "worker");
  expect(state.calls).toEqual(tools);
  const told = {
    echo: "[redacted]",
    big: "its answer is longer than 4 MiB",
    "endless-body": "its answer is longer than 4 MiB",
    "endless-events": "no answer within 4 s",
    slow: "no answer within 4 s",
    malformed: "the MCP server evil failed",
    deep: "evil failed",
    metadata: "which is not followed",
    elsewhere: "which is not followed",
    "hang-up": "the MCP server evil failed",
  };
  for (const [tool, text] of Object.entries(told))
    expect(results[tools.indexOf(tool)]).toContain(text);
  const lines = (await project.messages("worker", "mcp")).join("\n");
  expect(lines).toContain("MCP evil.long: done");
  const shown = await project.print("show", (await project.latest("worker"))?.instanceId ?? "");
  for (const name of ["gone", "loopback"])
    for (const text of [lines, shown])
      expect(text).toContain(`the MCP server ${name} can't be used:`);
  expect(target.seen).toEqual([]);
  const [logs = "", others = ""] = await Promise.all(
    ["worker", "other"].map((agent) => project.print("logs", agent, "--json")),
  );
  expect(logs).not.toContain(neighbour);
  // The server's own instructions are not those of the agent.
  for (const word of [secret, instructions]) expect(logs + others).not.toContain(word);
  expect((await project.status()).scheduler.error).toBeNull();
});

test("a changed MCP tool is logged once; if it needs approval, the new version is called once a person allows it", async () => {
  const { url, state } = await hostileServer({
    echo: (response, { id }) => answer(response, id, "as asked"),
  });
  const project = await projectOf(url, ["echo"]);
  let count = 0;
  const run = async (): Promise<void> => {
    await project.trigger("worker");
    await succeeded(project, "worker", (count += 1));
  };
  const changes = async () =>
    (await project.messages("worker", "mcp")).filter((line) => line.includes("changed the def"));
  await run();
  state.description = instructions;
  await run();
  await run();
  expect(await changes()).toHaveLength(1);
  await project.append("agents/worker/config.toml", '[approve]\ntools = ["evil.echo"]\n');
  await project.scheduler.waitForOutput(/approve\.tools .*evil\.echo/);
  state.description = "Repeats a text, and more.";
  const running = run();
  const asked = async () => (await openQuestions(project)).get("worker");
  await expect.poll(asked, slowly).toMatchObject({ kind: "tool" });
  const { id = "", prompt } = (await asked()) ?? {};
  expect(prompt).toMatch(/call the tool evil\.echo: {"text":"hi"}[^]*Repeats a text, and more\./);
  expect(state.calls).toHaveLength(3);
  expect((await changes()).at(-1)).toContain("the model sees the old one");
  await project.post(`/api/questions/${id}/answer`, { answer: "run" });
  await running;
  expect(state.calls).toHaveLength(4);
});

test("an edited MCP server and a new secret apply from the next call; a call interrupted by a crash is not repeated", async () => {
  const held = Promise.withResolvers<() => void>();
  const seen: unknown[] = [];
  const behaviours = (name: string): Parameters<typeof hostileServer>[0] => ({
    echo: (response, { id, headers }) => {
      seen.push([name, headers.authorization]);
      answer(response, id, "as asked");
    },
    hold: (response, { id }) => held.resolve(() => answer(response, id, "at last")),
    lost: () => undefined,
  });
  const [old, next] = [
    await hostileServer(behaviours("old")),
    await hostileServer(behaviours("next")),
  ];
  const project = await projectOf(old.url, ["echo", "hold", "echo", "lost"]);
  await project.edit("agents/worker/config.toml", "timeout = 8", "timeout = 600");
  await project.scheduler.waitForOutput(/worker mcp changed/);
  await project.trigger("worker");
  const go = await held.promise;
  await project.store("mcp_token", { token: "another-secret-31c7" });
  await project.edit("agents/worker/config.toml", old.url, next.url);
  await vi.waitUntil(
    () => project.scheduler.output().split("worker mcp changed").length > 2,
    slowly,
  );
  go();
  await expect.poll(() => next.state.calls, slowly).toEqual(["echo", "lost"]);
  expect(seen).toEqual([
    ["old", `Bearer ${secret}`],
    ["next", "Bearer another-secret-31c7"],
  ]);
  await project.crash();
  await succeeded(project, "worker");
  const results = await toolResults(project, "worker");
  expect(results[1]).toContain("at last");
  expect(results.at(-1)).toContain("Whether it took effect is unknown");
  expect(next.state.calls).toEqual(["echo", "lost"]);
});
