import { until } from "../helpers/command-agents.ts";
import { slowly } from "../helpers/live-project.ts";
import { otlpCollector, treeOf } from "../helpers/otlp-collector.ts";
import { addScripted, scriptedAgents, turn } from "../helpers/scripted-agents.ts";

test("a run is exported as a trace without texts, also if its scheduler is killed meanwhile; an edit of [telemetry] takes effect", async () => {
  const collector = await otlpCollector();
  const project = await scriptedAgents(
    { quick: {} },
    `[telemetry]\notlp = "${collector.url}/otel"\nheaders = "otlp_headers"\n`,
  );
  await project.store("otlp_headers", { headers: "Authorization=Bearer%20of-the-collector" });
  const command = `echo $TRACEPARENT > ${project.path("traceparent")}; ${until(project.path("go"))}; echo private`;
  await addScripted(project, "pi", {
    turns: turn("bash", `{ command = ${JSON.stringify(command)} }`, "A private text."),
    files: { "SKILL.md": "The private instructions.\n" },
  });
  await project.start();
  const spans = () =>
    collector.spans.filter(({ attributes }) => attributes["gen_ai.agent.name"] === "pi");
  expect(await project.trigger("pi")).toEqual([202]);
  await expect.poll(() => project.messages("pi", "tool"), slowly).toHaveLength(1);
  // Spans are sent as they end.
  await expect.poll(() => spans().map(({ name }) => name), slowly).toEqual(["chat scripted"]);
  await project.scheduler.kill();
  await project.write("go", "");
  const { waitForOutput, output } = await project.start();

  const [chat, tool] = ["    chat scripted", "    execute_tool bash"];
  await expect
    .poll(() => treeOf(spans()), slowly)
    .toEqual(["manual pi", "  invoke_agent pi", chat, tool, chat]);
  expect(collector.seen.headers.authorization).toBe("Bearer of-the-collector");
  expect([...collector.seen.paths]).toEqual(["POST /otel/v1/traces"]);
  const run = spans().find(({ name }) => name === "invoke_agent pi");
  expect(run?.attributes).toMatchObject({ "al.outcome": "succeeded" });
  expect(run?.resource).toMatchObject({ "service.name": "almanac" });
  expect(await project.read("traceparent")).toBe(`00-${run?.traceId}-${run?.spanId}-01\n`);
  expect(JSON.stringify(collector.spans)).not.toMatch(/private|echo/);

  const second = await otlpCollector();
  await project.edit("config.toml", collector.url, second.url);
  await waitForOutput(/\[telemetry\] changed/);
  await project.print("run", "quick");
  await expect.poll(() => second.spans.map(({ name }) => name), slowly).toContain("manual quick");
  await second.close();
  await project.print("run", "quick");
  await expect.poll(() => output().match(/does not accept spans:/g), slowly).toHaveLength(1);
}, 120_000);
