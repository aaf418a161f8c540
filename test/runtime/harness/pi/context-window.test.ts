import type { ServerResponse } from "node:http";
import { fakeProvider, refusing, type SeenRequest } from "../fake-provider.ts";
import { aModel } from "../jobs.ts";
import { runSession } from "./run-session.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const contextWindow = 8192;
const toolCalls = 8;

const command = JSON.stringify({ command: "seq 1000 1799" });
const bash = {
  index: 0,
  id: "c1",
  type: "function",
  function: { name: "bash", arguments: command },
};

test("a session that outgrows a small window is summarized in time", async () => {
  let calls = 0;
  const sizes: number[] = [];
  const upstream = await fakeProvider((request, response) => {
    const tokens = Math.ceil(JSON.stringify(request.body).length / 4);
    sizes.push(tokens);
    if (tokens > contextWindow) {
      refusing(400, `maximum context length is ${contextWindow} tokens`)(request, response);
    } else if (isSummary(request)) {
      answer(response, { content: "Numbers were listed." }, "stop", tokens);
    } else if (calls < toolCalls) {
      calls += 1;
      answer(response, { tool_calls: [{ ...bash, id: `c${calls}` }] }, "tool_calls", tokens);
    } else {
      answer(response, { content: "Done." }, "stop", tokens);
    }
  });
  const workDir = tempDir();
  const models = [aModel("small", upstream.baseUrl, { contextWindow })];
  const { error } = await runSession({ workDir, models });
  await upstream.close();
  expect({ error, calls }).toEqual({ error: null, calls: toolCalls });
  expect(upstream.requests.some(isSummary)).toBe(true);
  expect(Math.max(...sizes)).toBeLessThan(contextWindow);
});

/** A request for a summary has no tools. */
function isSummary({ body }: SeenRequest): boolean {
  return !("tools" in body);
}

function answer(response: ServerResponse, delta: object, finish: string, tokens: number): void {
  const usage = { prompt_tokens: tokens, completion_tokens: 10, total_tokens: tokens + 10 };
  const base = { id: "x", object: "chat.completion.chunk" };
  const chunks = [
    { ...base, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...base, choices: [{ index: 0, delta: {}, finish_reason: finish }], usage },
  ];
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  response.end("data: [DONE]\n\n");
}
