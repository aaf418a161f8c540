import { dataEvents, post, sending, startWire } from "./support.ts";
import { completions } from "./wires/openai.ts";

/** How a call ends that gets this answer. */
async function endOf(text: string, type: string) {
  const { gateway, url } = await startWire(completions, sending(text, { "content-type": type }));
  await post(url, completions.body);
  return gateway.settled();
}

const streamed = (chunk: object) => endOf(dataEvents([chunk]), "text/event-stream");
const plain = (document: object) => endOf(JSON.stringify(document), "application/json");

const input = Math.ceil(JSON.stringify(completions.body).length / 3);
const choices = [{ delta: { content: "123456789" }, finish_reason: "stop" }];

test.each<[string, object | undefined, number]>([
  ["no usage", undefined, input],
  ["usage of 0 tokens", { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, input],
  ["negative counts", { prompt_tokens: -900, completion_tokens: -5 }, input],
  ["counts that are strings", { prompt_tokens: "12", completion_tokens: "3" }, input],
  ["a count of the input only", { prompt_tokens: 40, completion_tokens: 0 }, 40],
])("the usage of a model stream with %s is estimated", async (_name, usage, counted) =>
  expect(await streamed({ choices, usage })).toMatchObject({
    usage: { input: counted, output: 3 },
    estimated: true,
  }),
);

test("the usage of an unstreamed model response without counts is estimated by its bytes", async () => {
  const document = { choices: [{ message: { content: "ok" } }], usage: {} };
  const output = Math.ceil(JSON.stringify(document).length / 3);
  expect(await plain(document)).toMatchObject({ usage: { input, output }, estimated: true });
});

test("a model provider's error before any output costs nothing, streamed or not", async () => {
  const error = { message: "overloaded", code: 529 };
  const unbilled = { usage: null, estimated: false };
  expect(await streamed({ error })).toMatchObject(unbilled);
  expect(await plain({ error })).toMatchObject(unbilled);
});
