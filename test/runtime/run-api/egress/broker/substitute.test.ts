import {
  substituted,
  withMinted,
} from "../../../../../src/runtime/run-api/egress/broker/substitute.ts";

const host = "api.github.com";
const sentinel = `ghp_AlSentinel${"a".repeat(26)}`;
const foreign = `AlSentinel${"b".repeat(26)}`;
const secret = "ghp_theRealOne";
const bindings = [
  { sentinel, secret, hosts: [host, "github.com"] },
  { sentinel: foreign, secret: "npm-secret", hosts: ["registry.npmjs.org"] },
];

function headers(...rawHeaders: string[]): string[] {
  return substituted({ host, url: "/user", rawHeaders }, bindings);
}

const base64 = (text: string) => Buffer.from(text).toString("base64");

test("a placeholder in any header for authentication is replaced by the secret", () =>
  expect(
    headers("Authorization", `token ${sentinel}`, "X-Auth-Token", `${sentinel},${sentinel}`),
  ).toEqual(["Authorization", `token ${secret}`, "X-Auth-Token", `${secret},${secret}`]));

test("a placeholder for the password in basic authentication is replaced by the secret", () => {
  const [, value] = headers("authorization", `Basic ${base64(`x-access-token:${sentinel}`)}`);
  expect(value).toBe(`Basic ${base64(`x-access-token:${secret}`)}`);
});

test("a token is minted for a request that has its placeholder, also in basic authentication, and for no other", async () => {
  const mint = vi.fn(() => Promise.resolve("ghs_minted"));
  const lazy = [{ sentinel, secret: null, hosts: [host], mint }];
  const ready = (at: string, ...rawHeaders: string[]) =>
    withMinted({ host: at, rawHeaders }, lazy).then(([one]) => one?.secret);
  const login = `Basic ${base64(`x-access-token:${sentinel}`)}`;
  expect(await ready(host, "accept", "*/*", "authorization", "Basic AAAA")).toBeNull();
  expect(await ready("other.test", "authorization", login)).toBeNull();
  expect(mint).not.toHaveBeenCalled();
  expect(await ready(host, "authorization", login)).toBe("ghs_minted");
  expect(await ready(host, "authorization", `token ${sentinel}`)).toBe("ghs_minted");
  mint.mockRejectedValue(new Error("not installed"));
  await expect(ready(host, "authorization", login)).rejects.toThrow("not installed");
});

test("a placeholder for user and password in basic authentication is replaced by the secret", () => {
  const plain = [{ sentinel: foreign, secret: "cmVhbDpsb2dpbg==", hosts: [host] }];
  const rawHeaders = ["authorization", `Basic ${foreign}`];
  expect(substituted({ host, url: "/", rawHeaders }, plain)[1]).toBe("Basic cmVhbDpsb2dpbg==");
});

test("headers without a secret's placeholder are forwarded unchanged", () => {
  const raw = ["X-Odd", "caf\u00e9 $& $1", "Authorization", "Basic AAAA", "x-odd", ""];
  expect(headers(...raw)).toEqual(raw);
});

test("a placeholder can be replaced by a secret with any characters", () => {
  const odd = [{ sentinel, secret: "$&-pässwort", hosts: [host] }];
  const raw = ["apikey", sentinel];
  expect(substituted({ host, url: "/", rawHeaders: raw }, odd)[1]).toBe(
    Buffer.from("$&-pässwort").toString("latin1"),
  );
});

const secretHeaders =
  "Authorization Cookie X-Api-Key apikey Private-Token X-Auth-Email DD-APPLICATION-KEY X-Auth-Key X-Shopify-Access-Token Ocp-Apim-Subscription-Key X-Client-Secret";
test.each(secretHeaders.split(" "))(
  "a placeholder in the header %s is replaced by the secret",
  (name) => {
    expect(headers(name, sentinel)).toEqual([name, secret]);
  },
);

const refusedAddress = /address of the request to api.github.com .*into headers for auth/;
test.each<[string, string, string[], RegExp?]>([
  ["in a query", `/user?access_token=${sentinel}`, [], refusedAddress],
  ["in a path", `/${sentinel}`, []],
  ["in a header's name", "/", [sentinel, "1"]],
  ["in a header's name in lower case", "/", [sentinel.toLowerCase(), "1"]],
  [
    "of another host",
    "/",
    ["authorization", `Bearer ${foreign}`],
    /header authorization .*for registry.npmjs.org and no other host. .*network.credentials/,
  ],
  [
    "of another host in basic authentication",
    "/",
    ["authorization", `Basic ${base64(`u:${foreign}`)}`],
  ],
  [
    "of another run",
    "/",
    ["authorization", `AlSentinel${"z".repeat(26)}`],
    / a secret that this run does not have\./,
  ],
  ["in the header User-Agent", "/", ["user-agent", sentinel]],
  ["in the header X-Author", "/", ["x-author", sentinel]],
  ["that is cut", "/", ["authorization", sentinel.slice(0, -1)]],
  ["in another case", "/", ["authorization", sentinel.toUpperCase()]],
])(
  "a run's request is rejected if it contains a secret's placeholder %s",
  (_what, url, rawHeaders, message = /contains a sentinel/) => {
    expect(() => substituted({ host, url, rawHeaders }, bindings)).toThrow(message);
  },
);
