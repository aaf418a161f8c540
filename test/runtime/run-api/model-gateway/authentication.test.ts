import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import type { UpstreamModel } from "../../../../src/foundation/contracts/model-gateway.ts";
import { emptyAnswer, post, startGateway, startWire } from "./support.ts";
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

test("a provider's authentication is a bearer token for an OAuth token, with the features that the client asked for", async () => {
  const beta = "claude-code-20250219,oauth-2025-04-20,interleaved-thinking-2025-05-14";
  const headers = await ask(
    anthropic,
    { authType: "oauth_token", key: "sk-ant-oat01-real" },
    {
      authorization: "Bearer sk-ant-oat01-placeholder",
      "anthropic-beta": beta,
      "anthropic-version": "2023-06-01",
      "user-agent": "claude-cli/2.1.75",
      "x-app": "cli",
    },
  );
  expect(headers).toMatchObject({
    authorization: "Bearer sk-ant-oat01-real",
    "anthropic-beta": beta,
    "anthropic-version": "2023-06-01",
    "user-agent": "claude-cli/2.1.75",
    "x-app": "cli",
  });
  expect(headers).not.toHaveProperty("x-api-key");
});

test("a provider's authentication is a key in its own header although it looks like an OAuth token", async () => {
  const headers = await ask(anthropic, { key: "sk-ant-oat01-real" });
  expect(headers["x-api-key"]).toBe("sk-ant-oat01-real");
  expect(headers).not.toHaveProperty("authorization");
});

test("a provider's authentication is the key's own header for Google and a bearer token for others, whatever its type", async () => {
  const authType = "oauth_token";
  expect(await ask(google, { authType })).toMatchObject({ "x-goog-api-key": "real-key" });
  expect(await ask(completions, { authType })).toMatchObject({ authorization: "Bearer real-key" });
});

test.each([anthropic, google, completions])(
  "a provider's authentication is absent if the config says so: %$",
  async (wire) => {
    for (const key of [null, "left over"]) {
      const headers = await ask(wire, { authType: "none", key });
      for (const name of ["authorization", "x-api-key", "x-goog-api-key"]) {
        expect(headers).not.toHaveProperty(name);
      }
    }
  },
);

test("a provider's authentication has the headers of the config, which override the key's and the client's", async () => {
  const headers = { Authorization: "Basic abc", "X-Team": "dev", "User-Agent": "almanac" };
  expect(await ask(completions, { headers }, { "user-agent": "client" })).toMatchObject({
    authorization: "Basic abc",
    "x-team": "dev",
    "user-agent": "almanac",
  });
});

test("a provider's authentication adds the features of the config to the client's", async () => {
  const headers = { "Anthropic-Beta": "b, c" };
  const sent = await ask(anthropic, { headers }, { "anthropic-beta": "a,b" });
  expect(sent["anthropic-beta"]).toBe("a,b,c");
});

test("a proxy of the scheduler's environment is used for plain and for encrypted addresses", async () => {
  const seen: string[] = [];
  const proxy = createServer((request, response) => {
    seen.push(`${request.method ?? ""} ${request.url ?? ""}`);
    response.end("{}");
  });
  proxy.on("connect", (request, socket) => {
    seen.push(`CONNECT ${request.url ?? ""}`);
    socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => void proxy.close());
  const { port } = proxy.address() as AddressInfo;
  const address = `http://127.0.0.1:${port}`;
  const proxyEnv = { HTTP_PROXY: address, HTTPS_PROXY: address, NO_PROXY: "" };
  const ask = async (baseUrl: string) => {
    const { origin } = await startGateway({ proxyEnv, model: { baseUrl } });
    const { host, pathname } = new URL(baseUrl);
    return post(`${origin}/model/one/${host}${pathname}/chat/completions`, {});
  };
  expect((await ask("http://model.example:8080/v1")).status).toBe(200);
  const refused = await ask("https://api.example.com/v1");
  expect(refused.status).toBe(502);
  expect(refused.text).toContain("api.example.com cannot be reached");
  expect(seen).toEqual([
    "POST http://model.example:8080/v1/chat/completions",
    "CONNECT api.example.com:443",
  ]);
});

test("an upgrade to a WebSocket is not made, but rejected as any request that the API's clients don't make", async () => {
  const { origin } = await startGateway();
  const { port, hostname } = new URL(origin);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.write(
    "GET /model/one/127.0.0.1:1/v1/responses HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
  );
  const [data] = (await once(socket, "data")) as [Buffer];
  expect(data.toString("utf8")).toMatch(/^HTTP\/1\.1 404 /);
});
