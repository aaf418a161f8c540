import { keptHeaders } from "../../../src/features/webhooks/interpret.ts";
import { signStandard, verifyStandard } from "../../../src/features/webhooks/signature.ts";
import { bytes, providerOf } from "./deliveries.ts";
import { slackCommand } from "./payloads.ts";

test("GitHub's published test vector is accepted, and refused with anything changed", () => {
  const secret = "It's a Secret to Everybody";
  const signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
  const verify = (body: string, given: string, key = secret): unknown =>
    providerOf("github").verify(
      { headers: { "x-hub-signature-256": given }, body: bytes(body) },
      key,
      0,
    );
  expect(verify("Hello, World!", signature)).toEqual({ ok: true });
  expect(verify("Hello, World?", signature)).toMatchObject({ ok: false });
  expect(verify("Hello, World!", signature, "another")).toMatchObject({ ok: false });
  expect(verify("Hello, World!", signature.slice("sha256=".length))).toMatchObject({ ok: false });
  expect(verify("Hello, World!", `${signature}00`)).toMatchObject({ ok: false });
});

test("the published test vector of Standard Webhooks is accepted within five minutes of its time", () => {
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
    verifyStandard(request, secret, seconds * 1000);
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  expect(verify(secret, 1_614_265_330)).toEqual({ ok: true });
  expect(verify(secret, 1_614_265_330 + 300)).toEqual({ ok: true });
  expect(verify(secret, 1_614_265_330 + 301)).toEqual({ ok: false, why: "timestamp is 301 s old" });
  expect(verify(secret, 1_614_265_330 - 301)).toMatchObject({ ok: false });
  expect(verify("whsec_AAAA", 1_614_265_330)).toMatchObject({ ok: false });
  expect(verify("whsec_", 1_614_265_330)).toMatchObject({ ok: false });
});

test.each(["standard", "gitlab", "mintlify"])(
  "%s accepts the same signature under Svix' names, and stores its id without it",
  (type) => {
    const provider = providerOf(type);
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const body = bytes({ type: "user.created" });
    const now = 1_700_000_000_000;
    const signed = signStandard({ secret, body, now, id: "msg_1", event: null });
    const headers = Object.fromEntries(
      Object.entries(signed).map(([name, value]) => [name.replace("webhook", "svix"), value]),
    );
    expect(Object.keys(headers)).toEqual(["svix-id", "svix-timestamp", "svix-signature"]);
    expect(provider.verify({ headers, body }, secret, now)).toEqual({ ok: true });
    expect(provider.verify({ headers, body: bytes("{}") }, secret, now).ok).toBe(false);
    expect(provider.verify({ headers, body }, secret, now + 301_000).ok).toBe(false);
    expect(provider.deliveryId({}, headers)).toBe("msg_1");
    expect(keptHeaders(provider, headers)).not.toHaveProperty("svix-signature");
    expect(keptHeaders(provider, headers)).toHaveProperty("svix-id", "msg_1");
    expect(provider.secretHeaders).toContain("svix-signature");
  },
);

test("Slack's published test vector is accepted within five minutes of its time", () => {
  const headers = {
    "x-slack-request-timestamp": "1531420618",
    "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
  };
  const verify = (seconds: number): unknown =>
    providerOf("slack").verify(
      { headers, body: bytes(slackCommand) },
      "8f742231b10e8888abcd99yyyzzz85a5",
      seconds * 1000,
    );
  expect(verify(1_531_420_618)).toEqual({ ok: true });
  expect(verify(1_531_420_618 + 301)).toMatchObject({ ok: false });
});

test("Stripe accepts any of several v1 signatures and refuses an old time", () => {
  const stripe = providerOf("stripe");
  const body = bytes("{}");
  const now = 1_700_000_000_000;
  const good = stripe.sign({ secret: "s", body, now, id: "", event: null });
  const value = good["stripe-signature"] ?? "";
  const rolled = value.replace(",", `,v1=${"0".repeat(64)},v0=1,`);
  const verify = (signature: string, at: number): unknown =>
    stripe.verify({ headers: { "stripe-signature": signature }, body }, "s", at);
  expect(verify(rolled, now)).toEqual({ ok: true });
  expect(verify(value, now + 301_000)).toMatchObject({ ok: false });
  expect(verify(value.replace(/t=\d+/, "t=1"), now)).toMatchObject({ ok: false });
});

// These providers publish no vector: the digests are OpenSSL's, which shares no code with what is tested.
test.each([
  [
    "sentry",
    "a client secret",
    '{"action":"created","actor":{"id":1}}',
    { "sentry-hook-signature": "2aced11264889175022932cbad50e2882aa6b30ede9942447bdd47c22be7c0c2" },
  ],
  [
    "mintlify",
    "a client secret",
    '{"action":"created","actor":{"id":1}}',
    { "x-mintlify-signature": "2aced11264889175022932cbad50e2882aa6b30ede9942447bdd47c22be7c0c2" },
  ],
  [
    "linear",
    "lin_wh_secret",
    '{"type":"Issue","webhookTimestamp":1700000000000}',
    { "linear-signature": "53be7e803f9fdfca494a3abe657b12276f8a6cb88cacde71b91ca40f10864e32" },
  ],
  [
    "stripe",
    "whsec_stripe",
    '{"id":"evt_1"}',
    {
      "stripe-signature":
        "t=1700000000,v1=881f7ed0fa1ed08a7f9383302d02ecf24f710c914423bb9d1b830fd60b6a93bb",
    },
  ],
] as const)(
  "%s accepts a signature that OpenSSL made, and it alone",
  (type, secret, text, headers) => {
    const verify = (body: string, key: string): unknown =>
      providerOf(type).verify({ headers, body: bytes(body) }, key, 1_700_000_000_000);
    expect(verify(text, secret)).toEqual({ ok: true });
    expect(verify(`${text} `, secret)).toMatchObject({ ok: false });
    expect(verify(text, `${secret}x`)).toMatchObject({ ok: false });
  },
);

test("Linear's retries are accepted for seven hours after the signed time in the body, and a body without one is not", () => {
  const linear = providerOf("linear");
  const now = 1_700_000_000_000;
  const verify = (webhookTimestamp: unknown): unknown => {
    const body = bytes({ webhookTimestamp });
    const headers = linear.sign({ secret: "s", body, now, id: "1", event: null });
    return linear.verify({ headers, body }, "s", now);
  };
  for (const seconds of [0, 61, 3_660, 25_200]) {
    expect(verify(now - seconds * 1000)).toEqual({ ok: true });
  }
  expect(verify(now - 25_200_001)).toMatchObject({ ok: false });
  expect(verify(now + 300_000)).toEqual({ ok: true });
  expect(verify(now + 300_001)).toEqual({ ok: false, why: "timestamp is 300 s ahead" });
  for (const wrong of [undefined, null, "now", String(now)]) {
    expect(verify(wrong)).toEqual({ ok: false, why: "no valid timestamp" });
  }
});

test("GitLab's plain token is compared, and a signing token requires a signature", () => {
  const gitlab = providerOf("gitlab");
  const verify = (headers: Record<string, string>, secret: string): unknown =>
    gitlab.verify({ headers, body: bytes("{}") }, secret, 0);
  expect(verify({ "x-gitlab-token": "secret" }, "secret")).toEqual({ ok: true });
  expect(verify({ "x-gitlab-token": "secreT" }, "secret")).toMatchObject({ ok: false });
  expect(verify({}, "secret")).toMatchObject({ ok: false });
  const signing = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  expect(verify({ "x-gitlab-token": signing }, signing)).toMatchObject({ ok: false });
});

test("Mintlify takes either of its headers, or Standard Webhooks", () => {
  const mintlify = providerOf("mintlify");
  const body = bytes("{}");
  const hex = mintlify.sign({ secret: "s", body, now: 0, id: "", event: null });
  const value = hex["x-mintlify-signature"] ?? "";
  const verify = (headers: Record<string, string>, secret: string): unknown =>
    mintlify.verify({ headers, body }, secret, 0);
  expect(verify({ "x-mintlify-signature": value }, "s")).toEqual({ ok: true });
  expect(verify({ "mintlify-signature": value }, "s")).toEqual({ ok: true });
  expect(verify({ "mintlify-signature": value }, "t")).toMatchObject({ ok: false });
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const standard = providerOf("standard").sign({ secret, body, now: 0, id: "m", event: null });
  expect(verify(standard, secret)).toEqual({ ok: true });
});
