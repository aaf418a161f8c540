import { DatabaseSync } from "node:sqlite";
import { pause } from "../helpers/pause.ts";
import { fakeProvider } from "../runtime/harness/fake-provider.ts";
import { chatEvents, modelProject } from "./model-project.ts";

test("a run whose scheduler is killed during a model's response repeats the call, and each call counts once", async () => {
  const begun = Promise.withResolvers<null>();
  const provider = await fakeProvider((_seen, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (provider.requests.length > 1) return void response.end(chatEvents({ content: "Done." }));
    const chunk = { id: "x", choices: [{ index: 0, delta: { content: "abc" } }] };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    begun.resolve(null);
  });
  onTestFinished(() => provider.close());
  const project = await modelProject({ baseUrl: provider.baseUrl });
  await project.start();
  await project.trigger("asker");
  await begun.promise;
  await pause(1_500, "the first bytes reach the run before the scheduler is killed");
  await project.crash();
  const ends = async () => (await project.history()).map((one) => [one.outcome, one.attempt]);
  await expect.poll(ends).toEqual([["succeeded", 1]]);
  expect((await project.al("logs", "asker")).stdout).toContain(
    "the scheduler stopped in the middle of the model's answer",
  );
  expect(provider.requests).toHaveLength(2);
  using db = new DatabaseSync(project.path(".al/state.db"), { readOnly: true });
  // The first request is estimated: a token for three bytes.
  const sent = Math.ceil(JSON.stringify(provider.requests[0]?.body).length / 3) * 1e6;
  expect(db.prepare("SELECT * FROM model_calls ORDER BY seq").all()).toMatchObject([
    { estimated: 1, reserved: null, nano_usd: sent },
    { status: 200, estimated: 0, reserved: null, input: 10, output: 2, nano_usd: 12_000_000 },
  ]);
});
