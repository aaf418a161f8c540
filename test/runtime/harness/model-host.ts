import { tunnelsTo } from "./tunnel-host.ts";
import { chmodSync, mkdtempSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import type { ModelApi } from "../../../streams/agent-config.ts";
import type { ModelFailure, ModelVerdict } from "../../../src/runtime/wire/protocol.ts";
import type { EgressAttempt } from "../../../src/foundation/contracts/network-allow.ts";
import { outsideOfRuns } from "../../../src/foundation/contracts/job.ts";
import type { Job, JobModel, Script } from "../../../src/foundation/contracts/job.ts";
import { modelDefaults, apiBaseUrl } from "../../../src/foundation/contracts/model-defaults.ts";
import type {
  CallGrant,
  CallRefusal,
  Meter,
  UpstreamModel,
} from "../../../src/foundation/contracts/model-gateway.ts";
import { listedApi } from "../../../src/features/models/listed-models.ts";
import { answerScript } from "../../../src/features/models/scripted-answer.ts";
import { createModelGateway } from "../../../src/runtime/run-api/model-gateway/model-gateway.ts";
import type { ModelGateway } from "../../../src/runtime/run-api/model-gateway/model-gateway.ts";

/** A model with what a scheduler has of it and a run does not. */
export interface HostedModel extends JobModel {
  readonly key: string | null;
  readonly script: Script | null;
  readonly headers: Readonly<Record<string, string>>;
}

interface Hosted {
  readonly models: readonly HostedModel[];
  /** What an agent's harness speaks, where that is not the model's own. */
  readonly api: ModelApi | null;
}

const hosted = new Map<string, Hosted>();

const grant: CallGrant = {
  granted: true,
  maxOutputTokens: null,
  seen: () => undefined,
  settle: () => undefined,
};
/** How the next calls to a model are refused, by its name. */
const refusals = new Map<string, CallRefusal[]>();

const meter: Meter = {
  begin: ({ model }) => Promise.resolve(refusals.get(model)?.shift() ?? grant),
};

/** Has the next calls to the model refused, as a budget that is used up does. */
export function refuseCalls(model: string, codes: readonly CallRefusal["code"][]): void {
  const detail = "all is spent";
  refusals.set(
    model,
    codes.map((code) => ({ granted: false, code, detail })),
  );
}

const gateway = createModelGateway({
  model: upstream,
  agentOf: () => "dev",
  isEnding: () => false,
  meter,
  answerScript,
  onCall: (token, call, verdict) => verdicts.set(call || token, verdict),
  onProblem: () => undefined,
});
const verdicts = new Map<string, () => ModelVerdict | null>();

/** The verdict on a call, or on the latest one of a run, as the scheduler gives it. */
export const hostVerdict = (id: string): ModelVerdict | null => verdicts.get(id)?.() ?? null;

/** Has the latest call of the run with this token failed so, after so many others. */
export function failCall(token: string, failure: ModelFailure, failures?: number): void {
  verdicts.set(token, () => ({ failure, failures }));
}

/** The real gateway, for the run sockets of a test's own. */
export const hostGateway: Pick<ModelGateway, "handle"> = gateway;

/** Where the socket is that `hostModels` gives: `run.sock`. */
export const hostDir = mkdtempSync(join(tmpdir(), "worker-"));
chmodSync(hostDir, 0o755);
const socket = join(hostDir, "run.sock");
/** The open requests of runs for messages, by the runs' tokens. */
const waiting = new Map<string, ServerResponse>();

/** As at the scheduler, the last request of a session is answered at once. */
async function waitForMessage(token: string, request: IncomingMessage, response: ServerResponse) {
  const { isLast = false } = (await json(request)) as { readonly isLast?: boolean };
  if (isLast) response.end('{"ok":true,"messages":[]}');
  else waiting.set(token, response);
}

async function answerVerdict(token: string, request: IncomingMessage, response: ServerResponse) {
  const { call = token } = (await json(request)) as { readonly call?: string };
  response.end(JSON.stringify({ ok: true, verdict: hostVerdict(call) }));
}

const server = createServer((request, response) => {
  const [, token = ""] = /^Bearer (.*)$/.exec(request.headers.authorization ?? "") ?? [];
  if (request.url === "/run/inbox") return void waitForMessage(token, request, response);
  if (request.url === "/run/model-verdict") return void answerVerdict(token, request, response);
  if (request.url === "/run/keep-session") return void response.end('{"ok":true}');
  request.url = asScripted(token, request.url ?? "");
  void gateway.handle(token, request, response);
}).listen(socket);
await once(server, "listening");

/**
 * Lets runs that have `hostModels` open tunnels to these hosts (`host:port`), on ports of this machine; what is reported
 * of their attempts comes into the list.
 */
export function hostTunnels(ports: Readonly<Record<string, number>>): readonly EgressAttempt[] {
  const attempts: EgressAttempt[] = [];
  server.removeAllListeners("connect").on("connect", tunnelsTo(ports, attempts));
  return attempts;
}
chmodSync(socket, 0o666);
server.unref();

let count = 0;

/** A scripted model with a `baseUrl` is answered by the server there, which can do more than a script. */
function asScripted(token: string, url: string): string {
  const [model] = hosted.get(token)?.models ?? [];
  if (model?.provider !== "scripted" || model.baseUrl === null) return url;
  const { host, pathname } = new URL(model.baseUrl);
  return url.replace("/scripted/v1", `/${host}${pathname}`);
}

/** The way of a job to its models: the real gateway behind a run socket of this process. */
export function hostModels(
  instanceId: string,
  models: readonly HostedModel[],
  api: ModelApi | null,
): NonNullable<Job["channel"]> {
  const token = `run-${count++}`;
  hosted.set(token, { models, api });
  // By this the run sockets of a test's own name it.
  hosted.set(instanceId, { models, api });
  return { socket, token };
}

const outside: readonly string[] = ["key", ...outsideOfRuns];

/** The models as a job has them. */
export function jobModels(models: readonly HostedModel[]): JobModel[] {
  return models.map((model) => {
    const entries = Object.entries(model).filter(([key]) => !outside.includes(key));
    return Object.fromEntries(entries) as unknown as JobModel;
  });
}

async function upstream(token: string, name: string): Promise<UpstreamModel> {
  const { models = [], api: spoken = null } = hosted.get(token) ?? {};
  const found = models.find((model) => model.name === name);
  if (found === undefined) throw new Error(`no model "${name}"`);
  const { provider, model, baseUrl } = found;
  const listed = await listedApi(provider, model);
  const api = spoken ?? found.api ?? listed ?? modelDefaults(provider, model).api;
  return {
    ...found,
    // See `asScripted`.
    provider: provider === "scripted" && baseUrl !== null ? "custom" : provider,
    api,
    baseUrl: apiBaseUrl(baseUrl, { provider, api }),
    providerTools: [],
    extraFields: [],
  };
}
