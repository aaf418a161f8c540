import { DatabaseSync } from "node:sqlite";
import { usdOfNano } from "../../src/foundation/contracts/money.ts";
import type { LiveProject } from "../helpers/live-project.ts";
import { pause } from "../helpers/pause.ts";
import { fakeProvider, type FakeProvider } from "../runtime/harness/fake-provider.ts";
import { chatEvents, modelProject } from "./model-project.ts";

let provider: FakeProvider;
let project: LiveProject;
let begun: Promise<void>;

/** A provider that stops in the middle of its first answer, and a project whose agent asks it. */
beforeEach(async () => {
  let begin = (): void => undefined;
  begun = new Promise((resolve) => (begin = resolve));
  provider = await fakeProvider((_seen, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (provider.requests.length > 1) return void response.end(chatEvents({ content: "Done." }));
    const chunk = { id: "x", choices: [{ index: 0, delta: { content: "abc" } }] };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    begin();
  });
  project = await modelProject({ baseUrl: provider.baseUrl });
  await project.start();
});
afterEach(() => provider.close());

/** The price of the first request as it is estimated: a token for three bytes. */
const sentNano = () => Math.ceil(JSON.stringify(provider.requests[0]?.body).length / 3) * 1e6;

/** The calls in the project's store, oldest first. */
function storedCalls() {
  using db = new DatabaseSync(project.path(".al/state.db"), { readOnly: true });
  return db.prepare("SELECT * FROM model_calls ORDER BY seq").all();
}

test("a run that is killed during a model's response costs the request and the response so far", async () => {
  const run = project.al("run", "asker", "--json");
  await begun;
  await project.print("kill", "asker");
  const nano = sentNano() + 1e6;
  expect(JSON.parse((await run).stdout)).toMatchObject({
    outcome: "killed",
    costUsd: usdOfNano(nano),
  });
  expect(storedCalls()).toMatchObject([{ estimated: 1, reserved: null, nano_usd: nano }]);
});

test("a run whose scheduler is killed during a model's response repeats the call, and each call counts once", async () => {
  await project.trigger("asker");
  await begun;
  await pause(1_500, "the first bytes reach the run before the scheduler is killed");
  await project.crash();
  const ends = async () => (await project.history()).map((one) => [one.outcome, one.attempt]);
  await expect.poll(ends).toEqual([["succeeded", 1]]);
  expect((await project.al("logs", "asker")).stdout).toContain(
    "the scheduler went away in the middle of the model's answer",
  );
  expect(provider.requests).toHaveLength(2);
  expect(storedCalls()).toMatchObject([
    { estimated: 1, reserved: null, nano_usd: sentNano() },
    { status: 200, estimated: 0, reserved: null, input: 10, output: 2, nano_usd: 12_000_000 },
  ]);
});
