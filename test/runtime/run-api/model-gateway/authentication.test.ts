import type { UpstreamModel } from "../../../../src/foundation/contracts/model-gateway.ts";
import { forwardProxy } from "../../../helpers/forward-proxy.ts";
import { emptyAnswer, post, startGateway, startProvider, startWire } from "./support.ts";
import { anthropic } from "./wires/anthropic.ts";
import { google } from "./wires/mistral-and-google.ts";
import { completions } from "./wires/openai.ts";
import type { Wire } from "./wires/wire.ts";

const key = "sk-ant-oat01-real";
const authType = "oauth_token";
const claude = { "anthropic-beta": "claude-code-20250219,oauth-2025-04-20", "x-app": "cli" };
const config = { Authorization: "Basic abc", "X-Team": "dev", "User-Agent": "almanac" };
const own = { authorization: "Basic abc", "x-team": "dev", "user-agent": "almanac" };
const both = { "x-api-key": "placeholder", authorization: "placeholder" };
const bearer = "Bearer real-key";

/** Headers of the client, and those that the provider gets; undefined for a header that it must not get. */
type Row = readonly [string, Wire, Partial<UpstreamModel>, Record<string, string>, object];

test.each<Row>([
  [
    "is a bearer token for an OAuth token of Anthropic, with the client's beta features",
    anthropic,
    { authType, key },
    { ...both, ...claude },
    { ...claude, authorization: `Bearer ${key}`, "x-api-key": undefined },
  ],
  [
    "is x-api-key for an API key that looks like an OAuth token",
    anthropic,
    { key },
    both,
    { "x-api-key": key, authorization: undefined },
  ],
  ["is x-goog-api-key for Google", google, { authType }, both, { "x-goog-api-key": "real-key" }],
  ["is a bearer token for OpenAI", completions, { authType }, both, { authorization: bearer }],
  [
    "is left out if authType is none",
    anthropic,
    { authType: "none", key },
    both,
    { authorization: undefined, "x-api-key": undefined },
  ],
  [
    "is overridden by headers in the config, as are the client's headers",
    completions,
    { headers: config },
    { "user-agent": "client" },
    own,
  ],
  [
    "is sent with the beta features of the config and of the client",
    anthropic,
    { headers: { "Anthropic-Beta": "b, c" } },
    { "anthropic-beta": "a,b" },
    { "anthropic-beta": "a,b,c" },
  ],
])("the authentication at a model provider %s", async (_what, wire, model, headers, expected) => {
  const { provider, url } = await startWire(wire, emptyAnswer, { model });
  expect((await post(url, wire.body, headers)).status).toBe(200);
  const got = provider.asked[0]?.headers ?? {};
  const found = Object.fromEntries(Object.keys(expected).map((name) => [name, got[name]]));
  expect(found).toEqual(expected);
});

test("the model gateway calls http and https providers through the scheduler's proxy", async () => {
  const provider = await startProvider(emptyAnswer);
  const proxy = await forwardProxy(Number(new URL(provider.origin).port));
  onTestFinished(() => proxy.close());
  const proxyEnv = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, NO_PROXY: "" };
  const ask = async (baseUrl: string) => {
    const { origin } = await startGateway({ proxyEnv, model: { baseUrl } });
    const { host, pathname } = new URL(baseUrl);
    return post(`${origin}/model/one/${host}${pathname}/chat/completions`, {});
  };
  expect((await ask("http://model.example:8080/v1")).status).toBe(200);
  // The certificate of the proxy is not trusted.
  expect((await ask("https://api.example.com/v1")).status).toBe(502);
  expect(proxy.seen).toEqual([
    "POST http://model.example:8080/v1/chat/completions user:proxy-pass",
    "CONNECT api.example.com:443 user:proxy-pass",
  ]);
});
