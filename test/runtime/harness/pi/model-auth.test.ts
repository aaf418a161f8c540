import { requestsOf, type Asked, type AskedModel } from "./requests.ts";

const opus = { provider: "anthropic", model: "claude-opus-4-8" } as const;
const token = "sk-ant-oat01-token";

/** The model's settings, and how its request proves who asks. */
const rows: readonly (readonly [AskedModel, Partial<Record<"bearer" | "apiKey", string>>])[] = [
  [{ ...opus, authType: "api_key", key: token }, { apiKey: token }],
  [{ ...opus, authType: "oauth_token", key: token }, { bearer: token }],
  [{ ...opus, authType: "none", key: null }, {}],
  [
    { provider: "openrouter", model: "anthropic/claude-opus-5", authType: "oauth_token", key: "t" },
    { bearer: "t" },
  ],
  [
    { provider: "custom", api: "anthropic-messages", authType: "oauth_token", key: "t" },
    { bearer: "t" },
  ],
  [{ provider: "openai", model: "gpt-5", authType: "oauth_token", key: "t" }, { bearer: "t" }],
  [{ provider: "openai", model: "gpt-5", authType: "api_key", key: token }, { bearer: token }],
  [{ provider: "mistral", model: "m", authType: "oauth_token", key: "t" }, { bearer: "t" }],
  [{ provider: "mistral", model: "m", authType: "none", key: null }, {}],
  [{ provider: "custom", model: "m", authType: "none", key: null }, {}],
];

test("a request carries the credential as authType says, in any form of the key", async () => {
  const asked = await requestsOf(rows.map(([model]) => model));
  const proofs = asked.map(({ headers: { authorization, "x-api-key": apiKey } }) => ({
    bearer: authorization?.replace(/^Bearer /, ""),
    apiKey,
  }));
  expect(proofs).toEqual(rows.map(([, { bearer, apiKey }]) => ({ bearer, apiKey })));
});

test("only an OAuth token goes to Anthropic in the form that such tokens need", async () => {
  const asked = await requestsOf([
    { ...opus, authType: "oauth_token", key: "t" },
    { ...opus, authType: "api_key", key: token },
  ]);
  const isOauth = ({ headers, body }: Asked) => [
    (headers["anthropic-beta"] ?? "").includes("oauth-2025-04-20"),
    JSON.stringify(body.system).includes("You are Claude Code"),
  ];
  expect(asked.map(isOauth)).toEqual([
    [true, true],
    [false, false],
  ]);
});
