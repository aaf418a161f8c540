import { LiveProject } from "../helpers/live-project.ts";
import { openQuestions, toolResults } from "./asking-project.ts";
import { answer, attacks, hostileServer, instructions, victim } from "./hostile-mcp-server.ts";

/** For a busy machine. */
const slowly = { timeout: 120_000, interval: 200 };
const secret = "canary-mcp-token-8d2f41";
const neighbour = "canary-neighbour-93aa07";
const runtime = 'runtime = { type = "host-user", run_as = "$USER" }';
const mcp = (url: string, name = "evil", timeout = 8): string =>
  `[[mcp]]\nname = "${name}"\nurl = "${url}"\nprivate = true\ntools = ["*"]\ntimeout = ${timeout}\ncredential = "mcp_token"\n`;
/** The attacks that last until their call's limit, which is shorter than that of the others. */
const endless = ["endless-events", "slow"];

/** A project whose agent `worker` calls these tools one after another, and an agent with a secret of its own beside it. */
async function projectOf(url: string, tools: readonly string[], more = ""): Promise<LiveProject> {
  const turns = tools.map(
    (tool) =>
      `[[turns]]\n[[turns.tools]]\nname = "${endless.includes(tool) ? "late" : "evil"}__${tool}"\narguments = { text = "hi" }\n`,
  );
  const models = ["worker", "other"].map(
    (name) => `[models.${name}]\nprovider = "scripted"\nscript = "${name}.script.toml"\n`,
  );
  const project = await LiveProject.of({
    "project/config.toml": models.join(""),
    "project/worker.script.toml": `${turns.join("")}[[turns]]\ntext = "Done."\n`,
    "project/other.script.toml": '[[turns]]\ntext = "Fine."\ndelayMs = 3000\n',
    "project/agents/worker/SKILL.md": "Work.\n",
    "project/agents/worker/config.toml": `models = ["worker"]\ncredentials = []\ncallable = true\n${runtime}\n${mcp(url)}${more}`,
    "project/agents/other/SKILL.md": "Work.\n",
    "project/agents/other/config.toml": `models = ["other"]\ncredentials = ["my_own"]\ncallable = true\n${runtime}\n`,
  });
  await project.store("mcp_token/default/token", secret);
  await project.store("my_own/default/word", neighbour);
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

test(
  "a hostile server fails its own calls, and reaches no credential, no host and no other run",
  { timeout: 300_000 },
  async () => {
    const target = await victim();
    const behaviours = attacks(target.url);
    const tools = Object.keys(behaviours);
    const { url, state } = await hostileServer(behaviours);
    const project = await projectOf(url, tools, mcp(url, "late", 4));
    await project.trigger("worker", "other");
    await Promise.all([succeeded(project, "worker"), succeeded(project, "other")]);
    const results = await toolResults(project, "worker");
    const of = (tool: string): string => results[tools.indexOf(tool)] ?? "";
    expect(state.calls).toEqual(tools);
    expect(of("echo")).toContain("[redacted]");
    expect(of("big")).toContain("its answer is longer than 4 MiB");
    expect(of("endless-body")).toContain("its answer is longer than 4 MiB");
    for (const tool of endless) expect(of(tool)).toContain("no answer within 4 s");
    expect(of("malformed")).toContain("the MCP server evil failed");
    expect(of("deep")).toContain("evil failed");
    for (const tool of ["metadata", "elsewhere"])
      expect(of(tool)).toContain("which is not followed");
    expect(of("hang-up")).toContain("the MCP server evil failed");
    const lines = (await project.messages("worker", "mcp")).join("\n");
    expect(lines).toMatch(/MCP evil\.long: done after \d+ ms, 2\d{5} bytes|MCP evil\.long: done/);
    expect(target.seen).toEqual([]);
    const logs = await Promise.all(
      ["worker", "other"].map((agent) => project.print("logs", agent, "--json")),
    );
    expect(logs.join("")).not.toContain(secret);
    expect(logs[0]).not.toContain(neighbour);
    // The server's own instructions are not those of the agent.
    expect(logs.join("")).not.toContain(instructions);
    expect((await project.status()).scheduler.error).toBeNull();
  },
);

test(
  "servers that are gone or refused cost the run their tools only",
  { timeout: 300_000 },
  async () => {
    const also = (name: string, url: string): string =>
      `[[mcp]]\nname = "${name}"\nurl = "${url}"\nprivate = true\ntools = ["*"]\n`;
    const others =
      also("loopback", "http://127.0.0.1:9/mcp") + also("metadata", "http://169.254.169.254/mcp");
    const project = await projectOf("http://192.0.2.99:9/mcp", ["echo"], others);
    await project.trigger("worker");
    await succeeded(project, "worker");
    const lines = await project.messages("worker", "mcp");
    for (const [name, why] of [
      ["evil", ""],
      ["loopback", ".*(refused|closed)"],
      ["metadata", ".*(refused|closed)"],
    ] as const) {
      expect(lines.join("\n")).toMatch(new RegExp(`the MCP server ${name} can't be used:${why}`));
    }
    expect((await toolResults(project, "worker")).join()).toMatch(/evil__echo/);
  },
);

test(
  "a changed tool is told of; a held one is the old one until a person allows the new one",
  { timeout: 300_000 },
  async () => {
    const { url, state } = await hostileServer({
      echo: (response, { id }) => answer(response, id, "as asked"),
    });
    const project = await projectOf(url, ["echo"]);
    await project.trigger("worker");
    await succeeded(project, "worker");
    state.description = instructions;
    await project.trigger("worker");
    await succeeded(project, "worker", 2);
    const changes = async () =>
      (await project.messages("worker", "mcp")).filter((line) =>
        line.includes("changed the definition"),
      );
    expect(await changes()).toHaveLength(1);
    await project.trigger("worker");
    await succeeded(project, "worker", 3);
    expect(await changes()).toHaveLength(1);

    await project.append("agents/worker/config.toml", '[approve]\ntools = ["evil.echo"]\n');
    await project.scheduler.waitForOutput(/approve\.tools .*evil\.echo/);
    state.description = "Repeats a text, and more.";
    await project.trigger("worker");
    const asked = async () => (await openQuestions(project)).get("worker");
    await expect.poll(asked, slowly).toMatchObject({ kind: "tool" });
    const question = await asked();
    expect(question?.prompt).toContain('worker wants to call the tool evil.echo: {"text":"hi"}');
    expect(question?.prompt).toContain("Repeats a text, and more.");
    expect(state.calls).toHaveLength(3);
    expect((await changes()).at(-1)).toContain("the model sees the old one");
    await project.post(`/api/questions/${question?.id ?? ""}/answer`, { answer: "run" });
    await succeeded(project, "worker", 4);
    expect(state.calls).toHaveLength(4);

    // The new one is known now: only the call itself is held, and can be allowed for good.
    await project.trigger("worker");
    await expect.poll(asked, slowly).toMatchObject({ subject: "evil.echo" });
    await project.crash();
    await expect.poll(asked, slowly).toMatchObject({ subject: "evil.echo" });
    await project.post(`/api/questions/${(await asked())?.id ?? ""}/answer`, { answer: "always" });
    await succeeded(project, "worker", 5);
    expect(await project.read("agents/worker/config.toml")).toContain("tools = []");
    await project.trigger("worker");
    await succeeded(project, "worker", 6);

    await project.edit("agents/worker/config.toml", "tools = []", 'tools = ["evil.*"]');
    await project.scheduler.waitForOutput(/approve\.tools .*evil\.\*/);
    await project.trigger("worker");
    await expect.poll(asked, slowly).toMatchObject({ form: { choices: ["once", "run", "deny"] } });
    await project.post(`/api/questions/${(await asked())?.id ?? ""}/answer`, { answer: "deny" });
    await succeeded(project, "worker", 7);
    expect((await toolResults(project, "worker")).at(-1)).toContain("a person denied it");
    expect(state.calls).toHaveLength(6);
  },
);

test(
  "an edit of the server and a new secret count from a run's next call on",
  { timeout: 300_000 },
  async () => {
    const held = Promise.withResolvers<() => void>();
    const seen: unknown[] = [];
    const echo = (name: string): Parameters<typeof hostileServer>[0]["echo"] => {
      return (response, { id, headers }) => {
        seen.push([name, headers.authorization]);
        answer(response, id, "as asked");
      };
    };
    const old = await hostileServer({
      echo: echo("old"),
      hold: (response, { id }) => held.resolve(() => answer(response, id, "at last")),
    });
    const next = await hostileServer({ echo: echo("next") });
    const project = await projectOf(old.url, ["echo", "hold", "echo"]);
    await project.trigger("worker");
    const go = await held.promise;
    await project.store("mcp_token/default/token", "another-secret-31c7");
    await project.edit("agents/worker/config.toml", old.url, next.url);
    await project.scheduler.waitForOutput(/worker mcp changed/);
    go();
    await succeeded(project, "worker");
    expect((await toolResults(project, "worker"))[1]).toContain("at last");
    expect(seen).toEqual([
      ["old", `Bearer ${secret}`],
      ["next", "Bearer another-secret-31c7"],
    ]);
  },
);

test(
  "a call that a crash of the scheduler interrupts is not sent again",
  { timeout: 300_000 },
  async () => {
    const { url, state } = await hostileServer({ slow: () => undefined });
    const project = await projectOf(url, ["slow"], mcp(url, "late", 600));
    await project.trigger("worker");
    await expect.poll(() => state.calls, slowly).toEqual(["slow"]);
    await project.crash();
    await succeeded(project, "worker");
    expect((await toolResults(project, "worker")).join()).toContain(
      "Whether it took effect is unknown",
    );
    expect(state.calls).toEqual(["slow"]);
  },
);
