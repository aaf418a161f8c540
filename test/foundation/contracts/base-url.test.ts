import { apiBaseUrl, unversionedUrl } from "../../../src/foundation/contracts/model-defaults.ts";
import { providers, type ModelApi, type Provider } from "../../../streams/agent-config.ts";
import { getBuiltinModels } from "@earendil-works/pi-ai/providers/all";

const host = "http://127.0.0.1:9";

test("the base URL of a provider's API defaults to the URL in the model table of the library pi", () => {
  for (const provider of providers) {
    if (provider === "custom" || provider === "scripted") continue;
    const models = getBuiltinModels(provider);
    for (const { api, baseUrl } of models) {
      expect(apiBaseUrl(null, { provider, api })).toBe(baseUrl);
    }
  }
});

test.each<[Provider, ModelApi, string, readonly string[]]>([
  ["anthropic", "anthropic-messages", "", ["", "/", "/v1", "/v1/", "/v1/messages"]],
  ["openai", "openai-responses", "/v1", ["", "/", "/v1", "/v1/", "/v1/responses"]],
  ["openrouter", "openai-completions", "/api/v1", ["/api", "/api/v1/chat/completions"]],
  ["google", "google-generative-ai", "/v1beta", ["", "/", "/v1beta", "/v1beta/"]],
  ["google", "google-generative-ai", "/v1", ["/v1"]],
  ["custom", "openai-completions", "/v1", ["", "/", "/v1", "/v1/chat/completions"]],
  ["custom", "openai-completions", "", ["/chat/completions"]],
])(
  "the base URL of %s (%s) gets the path %j if the configured path is one of %j",
  (provider, api, path, forms) => {
    for (const form of forms) {
      expect([form, apiBaseUrl(host + form, { provider, api })]).toEqual([form, host + path]);
    }
  },
);

test("the base URL of an API keeps a configured user and query", () => {
  const given = "https://user:p%40ss@example.org/?key=1";
  const api = { provider: "openai", api: "openai-responses" } as const;
  expect(apiBaseUrl(given, api)).toBe("https://user:p%40ss@example.org/v1?key=1");
});

test("the base URL of an API loses its version if the client adds the version", () => {
  for (const form of ["", "/", "/v1beta", "/v1/", "/v1beta/models/x:generateContent"]) {
    expect(unversionedUrl(host + form)).toBe(host);
  }
});
