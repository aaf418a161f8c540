import { keptHeaders } from "../../../src/features/webhooks/interpret.ts";
import { signStandard, verifyStandard } from "../../../src/features/webhooks/signature.ts";
import { bytes, providerOf } from "./deliveries.ts";
import { slackCommand } from "./payloads.ts";

// Other bodies and secrets are refused by the properties of sign.test.ts.
test("GitHub's published test vector is accepted, and rejected if the signature is changed", () => {
  const hex = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
  const body = bytes("Hello, World!");
  const verify = (signature: string) =>
    providerOf("github").verify(
      { headers: { "x-hub-signature-256": signature }, body },
      "It's a Secret to Everybody",
      0,
    ).ok;
  expect([`sha256=${hex}`, hex, `sha256=${hex}00`].map(verify)).toEqual([true, false, false]);
});

const signing = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const now = 1_700_000_000_000;

test("the published test vector of Standard Webhooks is accepted within five minutes of its timestamp", () => {
  const request = {
    headers: {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature":
        "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg== v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
    body: bytes('{"test": 2432232314}'),
  };
  const verify = (secret: string, seconds: number): unknown =>
    verifyStandard(request, secret, (1_614_265_330 + seconds) * 1000);
  for (const seconds of [0, 300]) expect(verify(signing, seconds)).toEqual({ ok: true });
  expect(verify(signing, 301)).toEqual({ ok: false, why: "timestamp is 301 s old" });
  expect(verify(signing, -301)).toMatchObject({ ok: false });
  expect(verify("whsec_", 0)).toMatchObject({ ok: false });
});

test.each(["standard", "gitlab", "mintlify"])(
  "verification for %s accepts a Standard Webhooks signature in svix-* headers, and stores svix-id without the signature",
  (type) => {
    const provider = providerOf(type);
    const secret = signing;
    const body = bytes({ type: "user.created" });
    const signed = signStandard({ secret, body, now, id: "msg_1", event: null });
    const headers = Object.fromEntries(
      Object.entries(signed).map(([name, value]) => [name.replace("webhook", "svix"), value]),
    );
    expect(Object.keys(headers)).toEqual(["svix-id", "svix-timestamp", "svix-signature"]);
    expect(provider.verify({ headers, body }, secret, now)).toEqual({ ok: true });
    expect(provider.verify({ headers, body: bytes("{}") }, secret, now).ok).toBe(false);
    expect(provider.deliveryId({}, headers)).toBe("msg_1");
    expect(Object.keys(keptHeaders(provider, headers))).toEqual(["svix-id", "svix-timestamp"]);
  },
);

test("Slack's published test vector is accepted within five minutes of its timestamp", () => {
  const headers = {
    "x-slack-request-timestamp": "1531420618",
    "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
  };
  const request = { headers, body: bytes(slackCommand) };
  const verify = (seconds: number) =>
    providerOf("slack").verify(request, "8f742231b10e8888abcd99yyyzzz85a5", seconds * 1000).ok;
  expect([1_531_420_618, 1_531_420_919].map(verify)).toEqual([true, false]);
});

test("verification for Stripe accepts any of several v1 signatures and rejects an old timestamp", () => {
  const stripe = providerOf("stripe");
  const body = bytes("{}");
  const good = stripe.sign({ secret: "s", body, now, id: "", event: null });
  const value = good["stripe-signature"] ?? "";
  const rolled = value.replace(",", `,v1=${"0".repeat(64)},v0=1,`);
  const verify = (signature: string, at = now) =>
    stripe.verify({ headers: { "stripe-signature": signature }, body }, "s", at).ok;
  expect(verify(rolled)).toBe(true);
  expect(verify(value, now + 301_000)).toBe(false);
  expect(verify(value.replace(/t=\d+/, "t=1"))).toBe(false);
});

const hex = "2aced11264889175022932cbad50e2882aa6b30ede9942447bdd47c22be7c0c2";
const created = '{"action":"created","actor":{"id":1}}';
const linearIssue = '{"type":"Issue","webhookTimestamp":1700000000000}';

// These providers publish no vector: the digests are OpenSSL's, which shares no code with what is tested.
test.each([
  ["sentry", "a client secret", created, "sentry-hook-signature", hex],
  ["mintlify", "a client secret", created, "x-mintlify-signature", hex],
  [
    "linear",
    "lin_wh_secret",
    linearIssue,
    "linear-signature",
    "53be7e803f9fdfca494a3abe657b12276f8a6cb88cacde71b91ca40f10864e32",
  ],
  [
    "stripe",
    "whsec_stripe",
    '{"id":"evt_1"}',
    "stripe-signature",
    "t=1700000000,v1=881f7ed0fa1ed08a7f9383302d02ecf24f710c914423bb9d1b830fd60b6a93bb",
  ],
])(
  "verification for %s accepts a signature that OpenSSL made",
  (type, secret, text, header, signature) => {
    const request = { headers: { [header]: signature }, body: bytes(text) };
    expect(providerOf(type).verify(request, secret, now)).toEqual({ ok: true });
  },
);

test("Linear's webhook is accepted for seven hours after the timestamp in its body, and rejected without one", () => {
  const linear = providerOf("linear");
  const verify = (webhookTimestamp: unknown): unknown => {
    const body = bytes({ webhookTimestamp });
    const headers = linear.sign({ secret: "s", body, now, id: "1", event: null });
    return linear.verify({ headers, body }, "s", now);
  };
  for (const ms of [0, -25_200_000, 300_000]) expect(verify(now + ms)).toEqual({ ok: true });
  expect(verify(now - 25_200_001)).toMatchObject({ ok: false });
  expect(verify(now + 300_001)).toEqual({ ok: false, why: "timestamp is 300 s ahead" });
  for (const wrong of [undefined, "now", String(now)])
    expect(verify(wrong)).toEqual({ ok: false, why: "no valid timestamp" });
});

const gitlabAccepts = (headers: Record<string, string>, secret = "secret") =>
  providerOf("gitlab").verify({ headers, body: bytes("{}") }, secret, 0).ok;

test("a GitLab webhook with the plain token is accepted", () =>
  expect(gitlabAccepts({ "x-gitlab-token": "secret" })).toBe(true));

test.each<[string, Record<string, string>, string?]>([
  ["another token", { "x-gitlab-token": "secreT" }],
  ["no token", {}],
  ["a signing token in place of a signature", { "x-gitlab-token": signing }, signing],
])("a GitLab webhook with %s is rejected", (_, headers, secret) =>
  expect(gitlabAccepts(headers, secret)).toBe(false),
);

test.each(["x-mintlify-signature", "mintlify-signature"])(
  "the signature of a Mintlify webhook is read from the header %s",
  (name) => {
    const mintlify = providerOf("mintlify");
    const body = bytes("{}");
    const signed = mintlify.sign({ secret: "s", body, now: 0, id: "", event: null });
    const headers = { [name]: signed["x-mintlify-signature"] ?? "" };
    expect(mintlify.verify({ headers, body }, "s", 0)).toEqual({ ok: true });
    expect(mintlify.verify({ headers, body }, "t", 0).ok).toBe(false);
  },
);
