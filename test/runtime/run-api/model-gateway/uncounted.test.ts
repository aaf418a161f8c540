import { post, startWire, type Answer } from "./support.ts";
import { completions } from "./wires/openai.ts";

/** How a call ends that is answered so. */
async function endOf(answer: Answer) {
  const { gateway, url } = await startWire(completions, answer);
  await post(url, completions.body);
  return gateway.settled();
}

const input = Math.ceil(JSON.stringify(completions.body).length / 3);
const sse = "text/event-stream";

const streamed = (...chunks: readonly object[]) =>
  endOf((_asked, response) => {
    response.writeHead(200, { "content-type": sse });
    response.end(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(""));
  });
const plain = (document: object) =>
  endOf((_asked, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(document));
  });

const text = [{ delta: { content: "123456789" }, finish_reason: "stop" }];
const unbilled = { usage: null, estimated: false };

test("an answer without any usage is estimated", async () => {
  const end = await streamed({ choices: text });
  expect(end).toMatchObject({ usage: { input, output: 3 }, estimated: true });
});

test.each([
  ["is empty", {}],
  ["is zeros", { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
  ["is less than nothing", { prompt_tokens: -900, completion_tokens: -5 }],
  ["is words", { prompt_tokens: "12", completion_tokens: "3" }],
])("an answer with a usage that %s is estimated, a document by all of it", async (_name, usage) => {
  const stream = await streamed({ choices: text, usage });
  expect(stream).toMatchObject({ usage: { input, output: 3 }, estimated: true });
  const document = { choices: [{ message: { content: "ok" } }], usage };
  const output = Math.ceil(JSON.stringify(document).length / 3);
  expect(await plain(document)).toMatchObject({ usage: { input, output }, estimated: true });
});

test("an answer with usage of its request but not its text is estimated", async () => {
  const usage = { prompt_tokens: 40, completion_tokens: 0 };
  const end = await streamed({ choices: text, usage });
  expect(end).toMatchObject({ usage: { input: 40, output: 3 }, estimated: true });
});

test("an answer with an error before the model began costs nothing", async () => {
  const error = { message: "overloaded", code: 529 };
  expect(await streamed({ error })).toMatchObject(unbilled);
  expect(await plain({ error })).toMatchObject(unbilled);
});
