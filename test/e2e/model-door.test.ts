import { usdOfNano } from "../../src/foundation/contracts/money.ts";
import { fakeProvider, type FakeProvider } from "../runtime/harness/fake-provider.ts";
import { claudeStream } from "../runtime/harness/llm-cli/streams.ts";
import type { LiveProject } from "../helpers/live-project.ts";
import { chatEvents, modelProject, storedCalls } from "./model-project.ts";
import type { ModelProjectOptions } from "./model-project.ts";

let provider: FakeProvider;
let project: LiveProject;

// Several starts of a scheduler and its runs, on a machine that may be busy.
vi.setConfig({ testTimeout: 90_000 });

afterEach(() => provider.close());

async function start(
  answer: Parameters<typeof fakeProvider>[0],
  options: Omit<ModelProjectOptions, "baseUrl"> = {},
): Promise<void> {
  provider = await fakeProvider(answer);
  project = await modelProject({ ...options, baseUrl: provider.baseUrl });
}

const lastLogged = async () => (await project.al("logs", "asker")).stdout;
const spentUsd = () =>
  usdOfNano(storedCalls(project).reduce((sum, { nano_usd }) => sum + nano_usd, 0));

/** A command line that asks by hand, with what it has in its environment, and fails when it is refused. */
const byHand = (body: object, count: number) => `#!${process.execPath}
const { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key } = process.env;
const headers = { "x-api-key": key, "content-type": "application/json", "anthropic-version": "2023-06-01" };
const body = ${JSON.stringify(JSON.stringify(body))};
const ask = async () => {
  const answer = await fetch(url + "/v1/messages", { method: "POST", headers, body });
  return answer.status + " " + answer.headers.get("x-should-retry") + " " + (await answer.text());
};
(async () => {
  const answers = [];
  for (let n = 0; n < ${count}; n += 1) answers.push(await ask());
  const stream = ${JSON.stringify(claudeStream)};
  stream[1].message.content[0].text = answers.join("\\n");
  const isRefused = !answers.at(-1).startsWith("200");
  if (isRefused) Object.assign(stream.at(-1), { is_error: true, result: answers.at(-1) });
  for (const line of stream) console.log(JSON.stringify(line));
  process.exitCode = isRefused ? 1 : 0;
})();
`;

const request = { model: "dearest", max_tokens: 100, messages: [{ role: "user", content: "hi" }] };

/** An agent of a command line that asks by hand so many times. */
async function startByHand(
  body: object,
  count: number,
  { model = "", ...options }: Omit<ModelProjectOptions, "baseUrl"> = {},
): Promise<void> {
  await start(
    (_request, response) => {
      const usage = { input_tokens: 10, output_tokens: 100 };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ type: "message", content: [], usage }));
    },
    {
      ...options,
      model: `api = "anthropic-messages"\n${model}`,
      agent: `${options.agent ?? ""}\n[harness]\ntype = "llm-cli"\ncommand = "bin/claude"`,
    },
  );
  await project.write("bin/claude", byHand(body, count), 0o755);
  await project.edit("agents/asker/config.toml", "bin/claude", project.path("bin/claude"));
}

test("a run that calls its model by curl is metered and capped, and al run exits as over_budget", async () => {
  await startByHand(request, 12, { agent: "[budget]\nrun = 0.5" });
  await project.start();
  const run = await project.al("run", "asker");
  expect(run.code).toBe(125);
  expect(run.stdout).toMatch(
    /403 false .*permission_error.*this run's budget: \$0\.4\d of \$0\.50/,
  );
  const [entry] = await project.history();
  expect(entry).toMatchObject({
    outcome: "over_budget",
    deadLetter: true,
    reason: expect.stringMatching(
      /^this run's budget: .*\[budget\], then al replay <entry>$/,
    ) as string,
  });
  const calls = storedCalls(project);
  expect(provider.requests).toHaveLength(calls.length);
  expect(calls.every(({ status, reserved }) => status === 200 && reserved === null)).toBe(true);
  expect(provider.requests.every(({ body }) => body.model === "m-1")).toBe(true);
  expect(spentUsd()).toBeGreaterThan(0.3);
  expect(spentUsd()).toBeLessThanOrEqual(0.5);
});

/** The price of the first request as it is estimated: a token for three bytes. */
const sentNano = () => Math.ceil(JSON.stringify(provider.requests[0]?.body).length / 3) * 1e6;

test("a run that is ended in the middle of an answer has its final cost at once: the request's, and that of the answer so far", async () => {
  let isBegun = false;
  await start((_seen, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const chunk = { id: "x", choices: [{ index: 0, delta: { content: "abc" } }] };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    isBegun = true;
  });
  await project.start();
  const run = project.al("run", "asker", "--json");
  await expect.poll(() => isBegun, { timeout: 60_000 }).toBe(true);
  await project.print("kill", "asker");
  const told = (await run).stdout;
  const costUsd = usdOfNano(sentNano() + 1e6);
  expect(JSON.parse(told)).toMatchObject({ outcome: "killed", costUsd });
  const settled = { estimated: 1, reserved: null, nano_usd: sentNano() + 1e6 };
  expect(storedCalls(project)).toMatchObject([settled]);
});

test("a scheduler killed in the middle of an answer: the run is adopted, asks once more, and each call counts once", async () => {
  let isBegun = false;
  await start((_seen, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (provider.requests.length > 1) return void response.end(chatEvents({ content: "Done." }));
    const chunk = { id: "x", choices: [{ index: 0, delta: { content: "I was about" } }] };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    // The first bytes reach the run before the scheduler is killed.
    setTimeout(() => (isBegun = true), 1_500);
  });
  await project.start();
  await project.trigger("asker");
  await expect.poll(() => isBegun, { timeout: 20_000 }).toBe(true);
  await project.crash();
  await expect
    .poll(async () => (await project.history()).map(({ outcome, attempt }) => [outcome, attempt]), {
      timeout: 30_000,
    })
    .toEqual([["succeeded", 1]]);
  expect(await lastLogged()).toContain(
    "the scheduler went away in the middle of the model's answer",
  );
  expect(provider.requests).toHaveLength(2);
  expect(storedCalls(project)).toMatchObject([
    { estimated: 1, reserved: null, nano_usd: sentNano() },
    { status: 200, estimated: 0, reserved: null, input: 10, output: 2, nano_usd: 12_000_000 },
  ]);
  const rows = [{ usd: spentUsd(), calls: 2 }];
  expect(await project.json("/api/spend?by=agent")).toMatchObject({ rows });
});
