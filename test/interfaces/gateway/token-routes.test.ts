import { expect, test } from "vitest";
import { operatorApp, tcpApp } from "../../../src/interfaces/gateway/app.ts";
import { scopes } from "../../../src/foundation/contracts/scopes.ts";
import type { Scope } from "../../../src/foundation/contracts/scopes.ts";
import { openApp } from "./start-gateway.ts";
import { decisions } from "./token-decisions.ts";
import { twoAgents } from "./two-agents.ts";

interface Described {
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
}

/** The routes of both servers that need the key, as their description has them. */
async function describedRoutes(): Promise<ReadonlyMap<string, Described>> {
  const found = new Map<string, Described>();
  for (const makeApp of [tcpApp, operatorApp]) {
    const { get } = await openApp({}, makeApp);
    const { paths } = (await get("/openapi.json")).json<{
      paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
    }>();
    const all = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(
        ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
      ),
    );
    for (const [route, operation] of all) {
      if (operation.security.length > 0) found.set(route, operation);
    }
  }
  return found;
}

const isScript = (route: string): boolean => /\.js$|worker/.test(route);

test("the decision about each route is written down, and the API's description names its scope", async () => {
  const routes = await describedRoutes();
  const named = [...routes.keys()].filter((route) => !isScript(route));
  expect(named.sort()).toEqual(Object.keys(decisions).sort());
  for (const [route, { scope }] of Object.entries(decisions)) {
    const given = routes.get(route)?.security.flatMap(({ token }) => (token ? [token] : []));
    expect([route, given]).toEqual([route, scope === null ? [] : [[scope]]]);
  }
});

const isOnSocket = (route: string): boolean => route === "POST /control/login-link";

/** Requests with tokens and with the key to one of the two servers. */
async function opened(route: string, operations = twoAgents()) {
  const started = await openApp({ operations }, isOnSocket(route) ? operatorApp : tcpApp);
  const [method = ""] = route.split(" ");
  let made = 0;
  /** The problem's code, or the status; a stream is only begun. */
  const ask = async (url: string, authorization: string | undefined, payload: object = {}) => {
    const isStream = url.includes("stream");
    const response = await started.app.inject({
      method: isStream ? "HEAD" : method === "POST" ? "POST" : "GET",
      url,
      ...(method === "POST" ? { payload } : {}),
      headers: authorization === undefined ? {} : { authorization: `Bearer ${authorization}` },
    });
    const isForbidden = isStream
      ? response.statusCode === 403
      : response.body.includes('"error":"forbidden"');
    return { isForbidden, body: response.body, status: response.statusCode };
  };
  const tokenWith = async (given: readonly Scope[], agents: string[] | null) => {
    const name = `t${++made}`;
    const all = { name, scopes: [...given], agents, days: 1 };
    return (await started.deps.tokens.create(all)).token;
  };
  return { ...started, ask, tokenWith };
}

test.each(Object.entries(decisions))("%s: scopes", async (route, decision) => {
  const { scope, mine = [], others = [], body } = decision;
  const { ask, tokenWith } = await opened(route);
  const [url = ""] = [...mine, ...others];
  for (const only of scopes) {
    const without = await tokenWith(
      scopes.filter((one) => one !== only),
      null,
    );
    const answer = await ask(url, without, body);
    expect([only, answer.isForbidden]).toEqual([only, scope === null || scope === only]);
    if (scope === only && !url.includes("stream"))
      expect(answer.body).toContain(`lacks the scope ${scope}`);
    const alone = await ask(url, await tokenWith([only], null), body);
    expect([only, alone.isForbidden]).toEqual([only, scope !== only]);
  }
});

test.each(Object.entries(decisions))("%s: agents", async (route, decision) => {
  const { scope, mine = [], others = [], body } = decision;
  const { ask, tokenWith } = await opened(route);
  for (const [urls, isMine] of [
    [mine, true],
    [others, false],
  ] as const) {
    for (const url of urls) {
      const limited = await ask(url, await tokenWith(scopes, ["dev"]), body);
      expect([url, limited.isForbidden]).toEqual([url, !isMine || scope === null]);
      expect(limited.body.replaceAll(url, "")).not.toContain("zebra");
      const free = await ask(url, await tokenWith(scopes, null), body);
      expect([url, free.isForbidden]).toEqual([url, scope === null]);
    }
  }
});

test.each(Object.entries(decisions))(
  "%s: without a token, and with the key",
  async (route, decision) => {
    const { mine = [], others = [], body } = decision;
    const { ask, deps } = await opened(route);
    const [url = ""] = [...mine, ...others];
    const isOpen = (await ask(url, undefined, body)).status !== 401;
    expect(isOpen).toBe(false);
    expect((await ask(url, `al_${"x".repeat(43)}`, body)).status).toBe(401);
    expect((await ask(url, deps.apiKey(), body)).isForbidden).toBe(false);
  },
);
