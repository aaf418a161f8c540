import { fakeProvider, refusing, type SeenRequest } from "../fake-provider.ts";
import { aModel } from "../jobs.ts";
import { runSession } from "./run-session.ts";
import { completions } from "./wires/completions.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const contextWindow = 8192;
const toolCalls = 8;
const json = JSON.stringify({ command: "seq 1000 1799" });

/** A request for a summary has no tools. */
const isSummary = ({ body }: SeenRequest): boolean => !("tools" in body);

test("a session of pi is summarized before it exceeds a small context window", async () => {
  let calls = 0;
  const sizes: number[] = [];
  const upstream = await fakeProvider((request, response) => {
    const tokens = Math.ceil(JSON.stringify(request.body).length / 4);
    sizes.push(tokens);
    if (tokens > contextWindow) return refusing(400, "too long")(request, response);
    const usage = { prompt_tokens: tokens, completion_tokens: 10, total_tokens: tokens + 10 };
    const isCall = !isSummary(request) && calls < toolCalls;
    const reply = isCall
      ? ({ kind: "calls", calls: [{ id: `c${(calls += 1)}`, name: "bash", json }] } as const)
      : ({ kind: "text", text: "Numbers were listed." } as const);
    response.writeHead(200, { "content-type": "text/event-stream" });
    return void response.end(completions.stream(reply, usage));
  });
  onTestFinished(() => upstream.close());
  const models = [aModel("small", upstream.baseUrl, { contextWindow })];
  const { error } = await runSession({ workDir: tempDir(), models });
  expect({ error, calls }).toEqual({ error: null, calls: toolCalls });
  expect(upstream.requests.some(isSummary)).toBe(true);
  expect(Math.max(...sizes)).toBeLessThan(contextWindow);
});
