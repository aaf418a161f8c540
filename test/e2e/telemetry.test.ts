import { runSpanId } from "../../src/features/telemetry/trace-ids.ts";
import { callOf, commandAgents, ownUser, until } from "../helpers/command-agents.ts";
import { ownLog, slowly, type LiveProject } from "../helpers/live-project.ts";
import { otlpCollector, treeOf, type OtlpCollector } from "../helpers/otlp-collector.ts";
import { githubExample } from "../features/webhooks/deliveries.ts";

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
    hooked: "al-return done",
  }));
  await project.store("otlp_headers/default/headers", `Authorization=Bearer%20${secret}`);
  await project.append(
    "config.toml",
    `[models.s]\nprovider = "scripted"\nscript = "s.script.toml"
[webhooks.hub]\ntype = "github"\nallowUnsigned = true
[telemetry]\notlp = "${collector.url}/otel"\nheaders = "otlp_headers"\n`,
  );
  await project.write("s.script.toml", scriptOf(project.dir));
  await project.write(
    "agents/pi/config.toml",
    `models = ["s"]\ncredentials = []\ncallable = true\ntimeout = 120\n${ownUser}`,
  );
  await project.write("agents/pi/SKILL.md", "The private instructions.\n");
  await project.append("agents/hooked/config.toml", '[[webhooks]]\nsource = "hub"\n');
});

const spansOf = (agent: string) =>
  collector.spans.filter(({ attributes }) => attributes["gen_ai.agent.name"] === agent);
const treeOfAgent = (agent: string) => () => treeOf(spansOf(agent));

const treeOfPi = [
  "manual pi",
  "  invoke_agent pi",
  "    chat scripted",
  "    execute_tool bash",
  "    chat scripted",
];

test("a run in pi is a trace of its trigger, itself, its calls to models and tools, without their texts", async () => {
  await project.write("go", "");
  await project.start();
  await project.print("run", "pi");
  await expect.poll(treeOfAgent("pi"), slowly).toEqual(treeOfPi);
  expect(collector.seen.headers.authorization).toBe(`Bearer ${secret}`);
  expect([...collector.seen.paths]).toEqual(["POST /otel/v1/traces"]);
  const run = spansOf("pi").find(({ name }) => name === "invoke_agent pi");
  expect(run?.attributes).toMatchObject({ "al.outcome": "succeeded" });
  expect(run?.resource).toMatchObject({ "service.name": "almanac" });
  expect((await project.read("traceparent")).trim()).toBe(`00-${run?.traceId}-${run?.spanId}-01`);
  expect(JSON.stringify(collector.spans)).not.toMatch(/private|echo/);
});

test("agents that call each other share one trace, also after kill -9 of the scheduler in its middle", async () => {
  await project.start();
  expect(await project.trigger("caller", "lost", "pi")).toEqual([202, 202, 202]);
  const calls = async () => (await project.latest("callee", "agent-call"))?.startedAt;
  await expect.poll(calls, slowly).toBeTypeOf("string");
  const lost = (await project.latest("lost"))?.instanceId ?? "";
  await expect.poll(() => ownLog(lost), slowly).toContain('"tool"');
  // Spans are sent as they end.
  await expect.poll(() => spansOf("pi").map(({ name }) => name), slowly).toEqual(["chat scripted"]);
  await project.scheduler.kill();
  await killRun(lost);
  await project.write("go", "");
  await project.start();
  await expect.poll(treeOfAgent("pi"), slowly).toEqual(treeOfPi);
  await expect
    .poll(() => treeOf([...spansOf("caller"), ...spansOf("callee")]), slowly)
    .toEqual([
      "manual caller",
      "  invoke_agent caller",
      "    execute_tool bash",
      "    call callee",
      "      invoke_agent callee",
      "        execute_tool bash",
    ]);
  const spans = [...spansOf("caller"), ...spansOf("callee")];
  const [traceId, ...others] = new Set(spans.map((span) => span.traceId));
  expect(others).toEqual([]);
  const callee = await project.latest("callee", "agent-call");
  expect(callee?.value).toBe(`00-${traceId}-${runSpanId(callee?.instanceId ?? "")}-01`);
  await expect
    .poll(
      () => spansOf("lost").map(({ name, attributes }) => [name, attributes["al.outcome"]]),
      slowly,
    )
    .toEqual(
      expect.arrayContaining([
        ["manual lost", "lost"],
        ["invoke_agent lost", "lost"],
      ]),
    );
});

async function killRun(instanceId: string): Promise<void> {
  const [, record = ""] = / run (\{.*\})$/m.exec(await ownLog(instanceId)) ?? [];
  const { pid } = (JSON.parse(record) as { process: { pid: number } }).process;
  process.kill(-pid, "SIGKILL");
}

test("a delivery is linked to the sender's span; one that no agent can run says why", async () => {
  await project.start();
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const response = await fetch(`${project.scheduler.url}/webhooks/github/hub`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-github-event": "push", traceparent },
    body: JSON.stringify(githubExample("push")),
  });
  expect(response.status).toBe(200);
  await expect
    .poll(treeOfAgent("hooked"), slowly)
    .toEqual(["webhook hooked", "  invoke_agent hooked", "    execute_tool bash"]);
  const trigger = spansOf("hooked").find(({ name }) => name === "webhook hooked");
  const [, traceId, spanId] = traceparent.split("-");
  expect(trigger?.links).toEqual([{ traceId, spanId }]);
  expect(trigger?.traceId).not.toBe(traceId);
});

test("a collector that is down is one line in the log, and its config is followed while the scheduler runs", async () => {
  await collector.close();
  await project.start();
  for (const agent of ["hooked", "hooked", "hooked"]) await project.print("run", agent);
  const { output } = project.scheduler;
  await expect.poll(() => output().match(/spans are not taken/g), slowly).toHaveLength(1);
  expect(output()).toMatch(/spans are not taken by 127\.0\.0\.1:\d+: ECONNREFUSED/);
  const metrics = await (await project.scheduler.api("/metrics")).text();
  expect(metrics).toMatch(/almanac_telemetry_spans_dropped_total [1-9]/);
  const second = await otlpCollector();
  await project.edit("config.toml", collector.url, second.url);
  await expect.poll(output, slowly).toContain("[telemetry] changed");
  await project.print("run", "hooked");
  await expect.poll(() => second.spans.map(({ name }) => name), slowly).toContain("manual hooked");
  expect(await project.scheduler.stop()).toBe(0);
});
