import { createServer } from "node:https";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Refusal, refusals, sendJson } from "./answers.ts";
import type { ApiCheck } from "./api-document.ts";
import { handleObjects } from "./handle-objects.ts";
import type { ObjectHandlers } from "./handle-objects.ts";
import { isAllowed, targetOf, verbOf } from "./routes.ts";
import type { Rule } from "./routes.ts";

export interface ApiServerOptions extends ObjectHandlers {
  readonly check: ApiCheck;
  readonly namespace: string;
  readonly tls: { readonly key: string; readonly cert: string };
  readonly token: () => string;
  /** What the client's user may do. */
  readonly rules: readonly Rule[];
  /** Whether the server answers at all. */
  readonly isAway: () => boolean;
}

/** Speaks HTTP as an API server does, for some kinds of objects. */
export async function startApiServer(options: ApiServerOptions) {
  const { check } = options;
  const violations: string[] = [];
  const requests: string[] = [];
  const server: Server = createServer(options.tls, (request, response) => {
    void answer(request, response);
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (options.isAway()) {
      request.socket.destroy();
      return;
    }
    const { method = "GET", url: path = "/" } = request;
    const url = new URL(path, "https://kubernetes");
    const send = (code: number, body: unknown) => {
      const problems = check.answer(method, url, code, body);
      violations.push(...problems.map((problem) => `answer: ${problem}`));
      if (typeof body === "string") response.writeHead(code, { "content-type": "text/plain" });
      if (typeof body === "string") response.end(body);
      else sendJson(response, code, body);
    };
    try {
      await perform(request, method, url, send);
    } catch (error) {
      if (!(error instanceof Refusal)) violations.push(String(error));
      const { status } = error instanceof Refusal ? error : refusals.unavailable();
      send(status.code ?? 500, status);
    }
  }

  async function perform(
    request: IncomingMessage,
    method: string,
    url: URL,
    send: (code: number, body: unknown) => void,
  ): Promise<void> {
    const body = await bodyOf(request);
    if (request.headers.authorization !== `Bearer ${options.token()}`)
      throw refusals.unauthorized();
    const problems = check.request(method, url, body);
    violations.push(...problems);
    if (problems.length > 0) throw refusals.badRequest(problems.join("; "));
    if (url.pathname === "/version/") return send(200, version);
    const target = targetOf(url.pathname);
    if (target === null) throw refusals.notFound(url.pathname);
    const verb = verbOf(method, target);
    requests.push(`${verb} ${target.resource}${target.subresource === null ? "" : "/log"}`);
    const isOwn = target.namespace === options.namespace;
    if (!isOwn || !isAllowed(options.rules, target, verb))
      throw refusals.forbidden(
        `${target.resource} is forbidden: the user cannot ${verb} resource "${target.resource}" in API group "${target.group}" in the namespace "${target.namespace}"`,
      );
    const isMergePatch = request.headers["content-type"] === "application/merge-patch+json";
    if (verb === "patch" && !isMergePatch)
      throw refusals.badRequest("it takes merge patches alone");
    const { code, body: answered } = handleObjects(options, target, verb, url.searchParams, body);
    send(code, answered);
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    /** What its OpenAPI has against requests that came, and against its own answers. */
    violations,
    /** Verb and resource of each request, such as `create jobs`. */
    requests,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const sent = await text(request);
  return sent === "" ? undefined : JSON.parse(sent);
}

const version = {
  major: "1",
  minor: "36",
  gitVersion: "v1.36.0",
  gitCommit: "",
  gitTreeState: "",
  buildDate: "",
  goVersion: "",
  compiler: "",
  platform: "",
};
