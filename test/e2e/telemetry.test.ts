import { runSpanId } from "../../src/features/telemetry/trace-ids.ts";
import { callOf, commandAgents, ownUser, until } from "../helpers/command-agents.ts";
import { ownLog, slowly, type LiveProject } from "../helpers/live-project.ts";
import { otlpCollector, treeOf, type OtlpCollector } from "../helpers/otlp-collector.ts";

vi.setConfig({ testTimeout: 120_000 });
let project: LiveProject;
let collector: OtlpCollector;

const secret = "key-of-the-collector";
const scriptOf = (dir: string) => `[[turns]]
text = "I look."
[[turns.tools]]
name = "bash"
arguments = { command = "echo $TRACEPARENT > ${dir}/traceparent; ${until(`${dir}/go`)}; echo the-private-result" }
[[turns]]
text = "The private answer."
`;

beforeEach(async () => {
  collector = await otlpCollector();
  project = await commandAgents((dir) => ({
    caller: `${callOf("callee")}; ${until(`${dir}/go`)}; al-return "$TRACEPARENT"`,
    callee: `${until(`${dir}/go`)}; al-return "$TRACEPARENT"`,
    lost: until(`${dir}/never`),
  }));
  await project.store("otlp_headers/default/headers", `Authorization=Bearer%20${secret}`);
  await project.append(
    "config.toml",
    `[models.s]\nprovider = "scripted"\nscript = "s.script.toml"
[telemetry]\notlp = "${collector.url}/otel"\nheaders = "otlp_headers"\n`,
  );
  await project.write("s.script.toml", scriptOf(project.dir));
  await project.write(
    "agents/pi/config.toml",
    `models = ["s"]\ncredentials = []\ncallable = true\ntimeout = 120\n${ownUser}`,
  );
  await project.write("agents/pi/SKILL.md", "The private instructions.\n");
  await project.start();
});

const spansOf = (...agents: readonly unknown[]) =>
  collector.spans.filter(({ attributes }) => agents.includes(attributes["gen_ai.agent.name"]));
const expectTree = (agents: readonly string[], tree: readonly string[]) =>
  expect.poll(() => treeOf(spansOf(...agents)), slowly).toEqual(tree);

/** Kills a run with its supervisor. */
async function killRun(instanceId: string): Promise<void> {
  const [, record = ""] = / run (\{.*\})$/m.exec(await ownLog(instanceId)) ?? [];
  const { pid } = (JSON.parse(record) as { process: { pid: number } }).process;
  process.kill(-pid, "SIGKILL");
}

test("runs and calls are exported as traces without texts, also if the scheduler is killed meanwhile; an edit of [telemetry] takes effect", async () => {
  expect(await project.trigger("caller", "lost", "pi")).toEqual([202, 202, 202]);
  const calls = async () => (await project.latest("callee", "agent-call"))?.startedAt;
  await expect.poll(calls, slowly).toBeTypeOf("string");
  const lost = (await project.latest("lost"))?.instanceId ?? "";
  await expect.poll(() => ownLog(lost), slowly).toContain('"tool"');
  await expect.poll(() => project.messages("pi", "tool"), slowly).toHaveLength(1);
  // Spans are sent as they end.
  await expect.poll(() => spansOf("pi").map(({ name }) => name), slowly).toEqual(["chat scripted"]);
  await project.scheduler.kill();
  await killRun(lost);
  await project.write("go", "");
  const { waitForOutput } = await project.start();

  const [chat, tool] = ["    chat scripted", "    execute_tool bash"];
  await expectTree(["pi"], ["manual pi", "  invoke_agent pi", chat, tool, chat]);
  expect(collector.seen.headers.authorization).toBe(`Bearer ${secret}`);
  expect([...collector.seen.paths]).toEqual(["POST /otel/v1/traces"]);
  const run = spansOf("pi").find(({ name }) => name === "invoke_agent pi");
  expect(run?.attributes).toMatchObject({ "al.outcome": "succeeded" });
  expect(run?.resource).toMatchObject({ "service.name": "almanac" });
  expect(await project.read("traceparent")).toBe(`00-${run?.traceId}-${run?.spanId}-01\n`);
  expect(JSON.stringify(collector.spans)).not.toMatch(/private|echo/);

  const called = ["    call callee", "      invoke_agent callee", "        execute_tool bash"];
  const both = ["caller", "callee"];
  await expectTree(both, ["manual caller", "  invoke_agent caller", tool, ...called]);
  const [traceId, ...others] = new Set(spansOf(...both).map((span) => span.traceId));
  expect(others).toEqual([]);
  const callee = await project.latest("callee", "agent-call");
  expect(callee?.value).toBe(`00-${traceId}-${runSpanId(callee?.instanceId ?? "")}-01`);
  const ends = () =>
    spansOf("lost").map(({ name, attributes }) => `${name} ${String(attributes["al.outcome"])}`);
  await expect
    .poll(() => ends().toSorted(), slowly)
    .toEqual(["invoke_agent lost lost", "manual lost lost"]);

  const second = await otlpCollector();
  await project.edit("config.toml", collector.url, second.url);
  await waitForOutput(/\[telemetry\] changed/);
  await project.print("run", "callee");
  await expect.poll(() => second.spans.map(({ name }) => name), slowly).toContain("manual callee");
  await second.close();
  await project.print("run", "callee");
  const { output } = project.scheduler;
  await expect.poll(() => output().match(/spans are not taken by/g), slowly).toHaveLength(1);
});
