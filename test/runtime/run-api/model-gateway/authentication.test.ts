import type { UpstreamModel } from "../../../../src/foundation/contracts/model-gateway.ts";
import { forwardProxy } from "../../../helpers/forward-proxy.ts";
import { emptyAnswer, post, startGateway, startProvider, startWire } from "./support.ts";
import { anthropic } from "./wires/anthropic.ts";
import { google } from "./wires/mistral-and-google.ts";
import { completions } from "./wires/openai.ts";
import type { Wire } from "./wires/wire.ts";

/** The headers that the provider gets. */
async function ask(
  wire: Wire,
  model: Partial<UpstreamModel>,
  headers: Record<string, string> = { "x-api-key": "placeholder", authorization: "placeholder" },
) {
  const { provider, url } = await startWire(wire, emptyAnswer, { model });
  expect((await post(url, wire.body, headers)).status).toBe(200);
  return provider.asked[0]?.headers ?? {};
}

const oauthKey = "sk-ant-oat01-real";

describe("the authentication at a model provider", () => {
  test("is a bearer token for an OAuth token of Anthropic, with the client's beta features", async () => {
    const asked = {
      "anthropic-beta": "claude-code-20250219,oauth-2025-04-20",
      "user-agent": "claude-cli/2.1.75",
      "x-app": "cli",
    };
    const headers = await ask(anthropic, { authType: "oauth_token", key: oauthKey }, asked);
    expect(headers).toMatchObject({ ...asked, authorization: `Bearer ${oauthKey}` });
    expect(headers).not.toHaveProperty("x-api-key");
  });

  test("is x-api-key for an API key that looks like an OAuth token", async () => {
    const headers = await ask(anthropic, { key: oauthKey });
    expect(headers["x-api-key"]).toBe(oauthKey);
    expect(headers).not.toHaveProperty("authorization");
  });

  test("is x-goog-api-key for Google and a bearer token for OpenAI, whatever the key's type", async () => {
    const authType = "oauth_token";
    expect(await ask(google, { authType })).toMatchObject({ "x-goog-api-key": "real-key" });
    const bearer = { authorization: "Bearer real-key" };
    expect(await ask(completions, { authType })).toMatchObject(bearer);
  });

  test("is left out of the request if authType is none", async () => {
    const headers = await ask(anthropic, { authType: "none", key: "left over" });
    for (const name of ["authorization", "x-api-key"]) expect(headers).not.toHaveProperty(name);
  });

  test("is overridden by headers in the config, as are the client's headers", async () => {
    const headers = { Authorization: "Basic abc", "X-Team": "dev", "User-Agent": "almanac" };
    expect(await ask(completions, { headers }, { "user-agent": "client" })).toMatchObject({
      authorization: "Basic abc",
      "x-team": "dev",
      "user-agent": "almanac",
    });
  });

  test("combines the beta features of the config and of the client", async () => {
    const headers = { "Anthropic-Beta": "b, c" };
    const sent = await ask(anthropic, { headers }, { "anthropic-beta": "a,b" });
    expect(sent["anthropic-beta"]).toBe("a,b,c");
  });
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
