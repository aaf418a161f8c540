import type { ServerResponse } from "node:http";
import { fakeProvider, type SeenRequest } from "../fake-provider.ts";
import { wireFormatOf } from "../pi/wires/wire-format-of.ts";
import type { Usage, WireFormat } from "../pi/wires/wire-format.ts";
import { pause } from "../../../helpers/pause.ts";

interface ToolCall {
  readonly tool: string;
  readonly args: object;
  /** The MCP server of the tool. */
  readonly server?: string;
}

/** What the provider does with one request. */
export type Step =
  | { readonly text: string }
  | ToolCall
  | { readonly status: number; readonly headers?: Record<string, string>; readonly error: object }
  | "overloads after its first text"
  | "breaks off"
  | "ends early"
  | "falls silent"
  /** An answer of Anthropic that has the whole call of a tool, and breaks off after 2 s. */
  | { readonly broken: ToolCall };

/** The usage of each answer: 1,500 tokens of input, of which 200 are of the cache, and 50 of output. */
const usages: Readonly<Record<string, Usage>> = {
  messages: {
    input_tokens: 1000,
    cache_read_input_tokens: 200,
    cache_creation_input_tokens: 300,
    output_tokens: 50,
  },
  responses: {
    input_tokens: 1500,
    input_tokens_details: { cached_tokens: 200 },
    output_tokens: 50,
    total_tokens: 1550,
  },
  streamGenerateContent: {
    promptTokenCount: 1500,
    cachedContentTokenCount: 200,
    candidatesTokenCount: 50,
    totalTokenCount: 1550,
  },
};

/** The name by which a command line offers a tool to its model; the namespace is codex's, which lists none of its tools. */
function offered(
  path: string,
  body: string,
  { tool, server }: ToolCall,
): readonly [string, string?] {
  if (server !== undefined && path.includes("/responses")) return [tool, `mcp__${server}`];
  return [new RegExp(`"name":"((?:[^"]*_)?${tool})"`).exec(body)?.[1] ?? ""];
}

function answerOf(step: Step, { path, body }: SeenRequest, wire: WireFormat): string {
  const usage = Object.entries(usages).find(([word]) => path.includes(word))?.[1];
  if (typeof step === "string" || !("tool" in step)) {
    const text = typeof step === "object" && "text" in step ? step.text : "";
    return wire.stream({ kind: "text", text }, usage);
  }
  const [name, space] = offered(path, JSON.stringify(body), step);
  const id = `toolu_${Math.random().toString(36).slice(2)}`;
  const calls = [{ id, name, json: JSON.stringify(step.args) }];
  const quoted = `"name":${JSON.stringify(name)}`;
  const named = space === undefined ? quoted : `${quoted},"namespace":${JSON.stringify(space)}`;
  return wire.stream({ kind: "calls", calls }, usage).replaceAll(quoted, named);
}

async function perform(step: Step, request: SeenRequest, response: ServerResponse): Promise<void> {
  const wire = wireFormatOf(request.path);
  // The gateway itself repeats a request on a connection that was used before.
  response.shouldKeepAlive = false;
  if (typeof step === "object" && "status" in step) {
    const { status, headers = {}, error } = step;
    const json = { "content-type": "application/json", ...headers };
    return void response.writeHead(status, json).end(JSON.stringify({ type: "error", error }));
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const write = (text: string) => new Promise<unknown>((done) => response.write(text, done));
  if (typeof step === "object" && "broken" in step) {
    const [begin = ""] = answerOf(step.broken, request, wire).split("event: message_delta");
    await write(begin);
    await pause(2_000, "a tool could run before the answer is whole");
    return void response.destroy();
  }
  if (typeof step === "object") return void response.end(answerOf(step, request, wire));
  await write(wire.begin);
  if (step === "overloads after its first text") response.end(wire.errorEvent);
  if (step === "ends early") response.end();
  if (step === "breaks off") response.destroy();
}

/** A provider for many agents, whose instructions name them: `case:<agent>`. */
export async function agentsProvider(stepOf: (agent: string, body: string, index: number) => Step) {
  const seen = new Map<string, string[]>();
  const provider = await fakeProvider((request, response) => {
    const body = JSON.stringify(request.body);
    const agent = /case:([\w-]+)/.exec(body)?.[1] ?? "";
    const bodies = seen.get(agent) ?? [];
    seen.set(agent, [...bodies, body]);
    // The client may be gone.
    perform(stepOf(agent, body, bodies.length), request, response).catch(() => response.destroy());
  });
  const requests = (agent: string): readonly string[] => seen.get(agent) ?? [];
  return { ...provider, origin: new URL(provider.baseUrl).origin, requests };
}
