import type { FastifyInstance, LightMyRequestResponse } from "fastify";
import type { OpenApi, Operation } from "../../../../src/interfaces/gateway/api/openapi.ts";
import { operatorApp } from "../../../../src/interfaces/gateway/app.ts";
import { apiKey, bearer, openApp } from "../start-gateway.ts";

async function described() {
  const { app, get } = await openApp();
  const response = await get("/openapi.json");
  return { app, response, api: response.json<OpenApi>() };
}

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

function entriesOf(api: OpenApi): Entry[] {
  return Object.entries(api.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method, path, operation })),
  );
}

/** The path with something in place of its parameters. */
function example(path: string): string {
  return path
    .replace("{name}", "dev")
    .replace("{instanceId}", "dev-abcdefgh")
    .replace("{receiptId}", "0193a1b2-0000-7000-8000-000000000001")
    .replaceAll(/\{\w+\}/g, "x");
}

test("every route is described with a summary, an answer and its path's parameters", async () => {
  const { api } = await described();
  for (const { method, path, operation } of entriesOf(api)) {
    const name = `${method} ${path}`;
    expect(operation.summary, name).not.toBe("");
    const good = Object.keys(operation.responses).filter((status) => Number(status) < 400);
    expect(good, name).not.toEqual([]);
    const inPath = operation.parameters.filter((parameter) => parameter.in === "path");
    expect(inPath.map((parameter) => `{${parameter.name}}`).sort(), name).toEqual(
      (path.match(/\{\w+\}/g) ?? []).sort(),
    );
  }
});

test("every reference in openapi.json leads to a component, without zod's own names", async () => {
  const { api, response } = await described();
  const known = Object.keys(api.components.schemas).map((n) => `#/components/schemas/${n}`);
  const references = [...response.body.matchAll(/"\$ref":"([^"]+)"/g)].map(([, to]) => to);
  expect(references.length).toBeGreaterThan(20);
  expect(known).toEqual(expect.arrayContaining([...new Set(references)]));
  expect(response.body).not.toContain("$defs");
  expect(known).toContain("#/components/schemas/Problem");
  expect(known).toContain("#/components/schemas/StatusUpdate");
});

test("the API's description on the operator's socket offers no sessions", async () => {
  const { app } = await openApp({}, operatorApp);
  const api = (await app.inject({ url: "/openapi.json" })).json<OpenApi>();
  const security = entriesOf(api).map(({ operation }) => JSON.stringify(operation.security));
  const withoutTokens = security.map((text) => text.replace(/,\{"token":\["\w+"\]\}/, ""));
  expect(new Set(withoutTokens)).toEqual(new Set(["[]", '[{"key":[]}]']));
});

test("each route responds with a status, media type and fields that /openapi.json describes", async () => {
  const { app, api } = await described();
  const wrong: string[] = [];
  for (const { method, path, operation } of entriesOf(api)) {
    // A stream never ends, and a stop ends the server.
    if (operation.summary.includes("Server-Sent") || path === "/control/stop") continue;
    const response = await ask(app, method, path, bearer);
    const problems = deviations(api, operation, response);
    wrong.push(...problems.map((problem) => `${method} ${path} ${response.statusCode} ${problem}`));
  }
  expect(wrong).toEqual([]);
});

function deviations(api: OpenApi, { responses }: Operation, response: LightMyRequestResponse) {
  const said = responses[String(response.statusCode)];
  if (said === undefined) return ["has no description"];
  if (said.content === undefined) return response.body === "" ? [] : ["has a body"];
  const type = String(response.headers["content-type"]).split(";")[0] ?? "";
  const schema = said.content[type]?.schema;
  if (schema === undefined) return [`has the media type ${type}`];
  return /[/+]json$/.test(type) ? missingFields(api, schema, response.json()) : [];
}

function ask(app: FastifyInstance, method: string, path: string, headers: Record<string, string>) {
  const isLogin = path === "/login" && method === "post";
  const payload = isLogin ? { key: headers.authorization ? apiKey : "wrong" } : undefined;
  return app.inject({
    // A stream would keep a GET waiting; its HEAD goes the same way in.
    method: path.endsWith("stream") ? "HEAD" : method.toUpperCase(),
    url: example(path),
    headers: isLogin ? {} : headers,
    ...(payload === undefined ? {} : { payload }),
  });
}

type Schema = Readonly<Record<string, unknown>>;

/** Where the value lacks a required field, or has one that the schema does not know. */
function missingFields(api: OpenApi, schema: Schema, value: unknown, at = ""): string[] {
  if (typeof schema.$ref === "string") {
    const name = schema.$ref.split("/").at(-1) ?? "";
    return missingFields(api, api.components.schemas[name] ?? {}, value, at);
  }
  if (Array.isArray(value)) {
    return value.flatMap((one) =>
      missingFields(api, (schema.items ?? {}) as Schema, one, `${at}[]`),
    );
  }
  const properties = schema.properties as Readonly<Record<string, Schema>> | undefined;
  if (properties === undefined || typeof value !== "object" || value === null) return [];
  const required = (schema.required ?? []) as readonly string[];
  const fields = value as Readonly<Record<string, unknown>>;
  return [
    ...required.filter((name) => !(name in fields)).map((name) => `${at}.${name} is missing`),
    ...Object.entries(fields).flatMap(([name, inner]) => {
      const known = properties[name];
      return known === undefined
        ? [`${at}.${name} is not described`]
        : missingFields(api, known, inner, `${at}.${name}`);
    }),
  ];
}

/** Their GET changes something, which a HEAD may not. */
const changing = new Set(["/logout", "/login/{token}"]);

test("HEAD, OPTIONS and other methods are right on every path", async () => {
  const { app, api } = await described();
  for (const [path, operations] of Object.entries(api.paths)) {
    const url = example(path);
    const methods = Object.keys(operations).map((method) => method.toUpperCase());
    const options = await app.inject({ method: "OPTIONS", url });
    expect(options.statusCode, path).toBe(204);
    const allowed = String(options.headers.allow).split(", ");
    const head = methods.includes("GET") && !changing.has(path) ? ["HEAD"] : [];
    expect([...allowed].sort(), path).toEqual([...methods, ...head, "OPTIONS"].sort());
    const wrong = await app.inject({ method: "DELETE", url, headers: bearer });
    expect(wrong.statusCode, path).toBe(405);
    expect(wrong.headers.allow, path).toBe(options.headers.allow);
    expect(wrong.headers["content-type"], path).toContain("application/problem+json");
  }
});
