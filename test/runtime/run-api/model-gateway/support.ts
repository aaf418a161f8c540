import { once } from "node:events";
import { createServer, request as httpRequest, Server as HttpServer } from "node:http";
import type {
  IncomingHttpHeaders,
  IncomingMessage,
  OutgoingHttpHeaders,
  ServerResponse,
} from "node:http";
import type { Server } from "node:net";
import { buffer } from "node:stream/consumers";
import type {
  CallEnd,
  CallPlan,
  CallRefusal,
  Meter,
  UpstreamModel,
} from "../../../../src/foundation/contracts/model-gateway.ts";
import type { Wire } from "./wires/wire.ts";
import type { ModelVerdict } from "../../../../src/runtime/wire/protocol.ts";
import { answerScript } from "../../../../src/features/models/scripted-answer.ts";
import { createModelGateway } from "../../../../src/runtime/run-api/model-gateway/model-gateway.ts";
import type { ModelGatewayOptions } from "../../../../src/runtime/run-api/model-gateway/model-gateway.ts";
import { listen } from "../../../helpers/listen.ts";

/** The requests of a provider. */
export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

export type Answer = (asked: Asked, response: ServerResponse) => unknown;

/** A provider on the loopback interface, which answers as told. */
export async function startProvider(answer: Answer) {
  const asked: Asked[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    void buffer(request).then(
      (body) => {
        const one = askedOf(request, body.toString("utf8"));
        asked.push(one);
        return answer(one, response);
      },
      () => undefined,
    );
  });
  server.on("connection", () => (connections += 1));
  const host = `127.0.0.1:${await listening(server)}`;
  /** Connections that were opened to it are counted. */
  return { origin: `http://${host}`, host, asked, connections: () => connections };
}

export type Provider = Awaited<ReturnType<typeof startProvider>>;

function askedOf({ method = "", url = "", headers }: IncomingMessage, text: string): Asked {
  return { method, url, headers, text, json: JSON.parse(text) as Asked["json"] };
}

/** A meter that grants what it is told, and remembers. */
export interface TestMeter extends Meter {
  readonly plans: CallPlan[];
  /** Stored progress of calls. */
  readonly soFar: CallEnd[];
  readonly ends: CallEnd[];
}

export function testMeter(
  grant: { readonly maxOutputTokens: number | null } | CallRefusal = { maxOutputTokens: null },
): TestMeter {
  const plans: CallPlan[] = [];
  const soFar: CallEnd[] = [];
  const ends: CallEnd[] = [];
  return {
    plans,
    soFar,
    ends,
    begin: (plan) => {
      plans.push(plan);
      if ("code" in grant) return Promise.resolve(grant);
      const { maxOutputTokens } = grant;
      const seen = (end: CallEnd) => soFar.push(end);
      const settle = (end: CallEnd) => ends.push(end);
      return Promise.resolve({ granted: true, maxOutputTokens, seen, settle });
    },
  };
}

export const upstreamModel: UpstreamModel = {
  name: "one",
  provider: "custom",
  model: "model-1",
  api: "openai-completions",
  baseUrl: "http://127.0.0.1:1/v1",
  authType: "api_key",
  key: "real-key",
  headers: {},
  script: null,
  providerTools: [],
  extraFields: [],
  timeoutSeconds: null,
};

export interface TestGatewayOptions extends ModelGatewayOptions {
  readonly model?: Partial<UpstreamModel>;
  readonly meter?: TestMeter;
  readonly isEnding?: () => boolean;
}

/** A gateway on a port, as a run meets it. */
export async function startGateway(options: TestGatewayOptions = {}) {
  const { model = {}, meter = testMeter(), isEnding = () => false, ...rest } = options;
  const problems: { model: string; error: Error }[] = [];
  const verdicts = new Map<string, () => ModelVerdict | null>();
  /** The statuses of refusals by the provider. */
  const refused: number[] = [];
  const gateway = createModelGateway(
    {
      model: (_instanceId, name) =>
        name === "missing"
          ? Promise.reject(new Error(`the agent has no model "${name}"`))
          : Promise.resolve({ ...upstreamModel, name, ...model }),
      agentOf: (instanceId) => `agent of ${instanceId}`,
      isEnding,
      meter,
      answerScript,
      onCall: (_instanceId, call, verdict) => verdicts.set(call, verdict),
      onRefused: (_instanceId, _model, { status }) => refused.push(status),
      onProblem: (problem) => problems.push(problem),
    },
    { proxyEnv: {}, ...rest },
  );
  /** The responses to all requests that came, in order. */
  const responses: ServerResponse[] = [];
  const server = createServer((request, response) => {
    responses.push(response);
    void gateway.handle("run-1", request, response);
  });
  const origin = `http://127.0.0.1:${await listening(server)}`;
  onTestFinished(() => gateway.close());
  /** Resolves to the end of the last call when so many were settled. */
  const settled = async (count = 1) => {
    await expect.poll(() => meter.ends.length).toBeGreaterThanOrEqual(count);
    return meter.ends[count - 1] as CallEnd;
  };
  /** The verdict on the call that was sent under this id. */
  const verdictOn = (call: string) => verdicts.get(call)?.() ?? null;
  return { origin, gateway, meter, problems, refused, responses, settled, verdictOn };
}

/** A gateway to a provider that answers so, with the addresses of a wire format's calls. */
export async function startWire(
  wire: Wire,
  answer: Answer,
  { model, ...options }: TestGatewayOptions = {},
) {
  const provider = await startProvider(answer);
  const baseUrl = provider.origin + wire.basePath;
  const gateway = await startGateway({ ...options, model: { ...wire.model, baseUrl, ...model } });
  const base = `${gateway.origin}/model/one/${provider.host}${wire.basePath}`;
  const [url, plainUrl] = [base + wire.path, base + (wire.plainPath ?? wire.path)];
  return { provider, gateway, base, url, plainUrl };
}

/** Answers at once with this text. */
export function sending(
  text: string | Buffer,
  headers: OutgoingHttpHeaders = {},
  status = 200,
): Answer {
  return (_asked, response) => response.writeHead(status, headers).end(text);
}

export const emptyAnswer = sending("{}");

/** Begins an event stream with this text, which is not ended. */
export function beginStream(response: ServerResponse, text: string): void {
  response.writeHead(200, { "content-type": "text/event-stream" }).write(text);
}

async function listening(server: Server): Promise<number> {
  onTestFinished(() => {
    if (server instanceof HttpServer) server.closeAllConnections();
    server.close();
  });
  return listen(server);
}

/** Asks the gateway as a client does. */
export async function post(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
  method = "POST",
) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const length = { "content-length": String(Buffer.byteLength(text)) };
  const framing = "transfer-encoding" in headers ? {} : length;
  const request = httpRequest(url, { method, headers: { ...framing, ...headers } });
  request.end(text);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  response.on("data", (chunk: Buffer) => chunks.push(chunk));
  response.on("error", () => undefined);
  await new Promise((resolve) => response.once("close", resolve));
  const { statusCode: status = 0, complete: isWhole } = response;
  return {
    status,
    headers: response.headers,
    text: Buffer.concat(chunks).toString("utf8"),
    /** Whether the answer has its end. */
    isWhole,
  };
}

/** Sends a text in pieces of so many bytes, each in a turn of its own. */
export async function sendInPieces(
  response: ServerResponse,
  text: string,
  pieceBytes: number,
): Promise<void> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    response.write(bytes.subarray(start, start + pieceBytes));
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}

interface NamedEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Server-sent events with a name each, as Anthropic and the Responses API send them. */
export function namedEvents(events: readonly NamedEvent[], newline = "\n"): string {
  return events
    .map((event) =>
      [`event: ${event.type}`, `data: ${JSON.stringify(event)}`, "", ""].join(newline),
    )
    .join("");
}

/** Server-sent events of data alone. */
export function dataEvents(
  events: readonly object[],
  { newline = "\n", done = false }: { newline?: string; done?: boolean } = {},
): string {
  const all = [...events.map((event) => JSON.stringify(event)), ...(done ? ["[DONE]"] : [])];
  return all.map((data) => `data: ${data}${newline}${newline}`).join("");
}
