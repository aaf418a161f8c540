import type { WebhookFormat } from "../../../src/foundation/config/webhook-format.ts";
import { forSource, type Headers } from "../../../src/features/webhooks/provider.ts";
import { interpretStored } from "../../../src/features/webhooks/interpret.ts";
import { atTime, signDelivery } from "../../../src/features/webhooks/sign.ts";
import { bytes, providerOf, readSample, samplesOf } from "./deliveries.ts";
import payloads from "./payloads.json" with { type: "json" };
import { source, TestReceiver, start as now } from "./test-receiver.ts";

const secret = "It's a Secret to Everybody";
const hello = "a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9";

const verdict = (format: WebhookFormat, headers: Headers, body = "Hello World!", at = now) =>
  forSource(providerOf("generic"), format).verify({ headers, body: bytes(body) }, secret, at);

// Bitbucket publishes this vector.
test.each<[string, Record<string, string>]>([
  ["bitbucket", { "x-hub-signature": `sha256=${hello}` }],
  ["gitea", { "x-gitea-signature": hello }],
  ["forgejo", { "x-forgejo-signature": hello }],
  ["pagerduty", { "x-pagerduty-signature": `v1=${"0".repeat(64)},v1=${hello}` }],
  ["shopify", { "x-shopify-hmac-sha256": "pHccOfvpDzF8eCToPd7zyq6cs9l2whSs4fKTfhMyY8k=" }],
])("verification for %s accepts the published form of a signature", (type, headers) => {
  const provider = providerOf(type);
  const verify = (given: Headers) =>
    provider.verify({ headers: given, body: bytes("Hello World!") }, secret, now).ok;
  expect(verify(headers)).toBe(true);
  const [[name, value] = ["", ""]] = Object.entries(headers);
  const changed = value.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
  const others = [changed, value.slice(0, -1), `${value}0`, value.replaceAll("=", "-"), ""];
  for (const other of others.filter((one) => one !== value))
    expect(verify({ [name]: other }), other).toBe(false);
  expect(verify({})).toBe(false);
});

test.each(
  samplesOf("filters.jsonl").filter(({ type }) =>
    ["gitea", "forgejo", "bitbucket", "jira", "pagerduty", "shopify"].includes(type),
  ),
)(
  "the documented example of $type is accepted, and refused without its signature, with another byte or too old",
  (sample) => {
    const { payload } = readSample(sample);
    const { type } = sample;
    const provider = providerOf(type);
    const body = atTime(type, bytes(payload), now);
    const headers = signDelivery(type, secret, body, now);
    const verify = (given: Headers, text: Buffer, at = now) =>
      provider.verify({ headers: given, body: text }, secret, at).ok;
    expect(verify(headers, body)).toBe(true);
    const [name = ""] = provider.secretHeaders;
    expect(verify({ ...headers, [name]: undefined }, body)).toBe(false);
    expect(verify(headers, Buffer.concat([body, bytes(" ")]))).toBe(false);
    const hours = (count: number) => now + count * 3_600_000;
    expect(verify(headers, body, hours(2))).toBe(true);
    expect(verify(headers, body, hours(2) + 1)).toBe(type !== "jira");
  },
);

const timedHmac = "f9162e1c6b0d5483f5fdafc7f292c183de4de48c5acca970d906b64f50b19687";
const idHmac = "78a3011453746b729736607001bda45edb73c4cf3cf90886d2b6fd020a874cea";
const seconds = String(now / 1000);
const timed: WebhookFormat = {
  signed: "v0:{time}:{body}",
  time: "header:X-Time",
  id: "header:X-Id",
};

// The digests are OpenSSL's, which shares no code with what is tested.
test.each<[string, WebhookFormat, Record<string, string>]>([
  ["the defaults", {}, { "x-signature": hello.toUpperCase() }],
  [
    "sha512 in base64 under another header with a prefix",
    { signature: "Authorization", algorithm: "sha512", encoding: "base64", prefix: "HMAC=" },
    {
      authorization:
        "HMAC=u/pnc7wwZVHLT9Ow+w5bZcNSoYjNxPijo9VKZ0BGBUcuyX3vx2ELExby1JBqxUVGdrF/wB1kk1pP2mXSDg1IIQ==",
    },
  ],
  ["a signed time", timed, { "x-signature": timedHmac, "x-time": seconds }],
  [
    "a signed ID and several signatures",
    { signed: "{id}.{body}", id: "header:X-Id", prefix: "v1=" },
    { "x-signature": `v2=abc v1=${idHmac}, v1=`, "x-id": "msg_1" },
  ],
])("a generic source accepts %s", (_what, format, headers) =>
  expect(verdict(format, headers)).toEqual({ ok: true }),
);

test.each<[string, WebhookFormat, Record<string, string | string[]>]>([
  ["another algorithm than the source's", { algorithm: "sha512" }, { "x-signature": hello }],
  ["another encoding", { encoding: "base64" }, { "x-signature": hello }],
  ["a missing prefix", { prefix: "sha256=" }, { "x-signature": hello }],
  ["the prefix alone", { prefix: "sha256=" }, { "x-signature": "sha256=" }],
  ["an empty signature", {}, { "x-signature": "" }],
  ["empty signatures", {}, { "x-signature": ",, ," }],
  ["a signature in another header", { signature: "X-Acme" }, { "x-signature": hello }],
  ["a header with an inherited name", { signature: "constructor" }, {}],
  ["a second header of the name", {}, { "x-signature": ["0", hello] }],
  ["no time that is signed", timed, { "x-signature": timedHmac }],
  ["two times", timed, { "x-signature": timedHmac, "x-time": `${seconds}, ${seconds}` }],
  ["no ID that is signed", { ...timed, signed: "{id}.{body}" }, { "x-signature": idHmac }],
])("a generic source rejects %s", (_what, format, headers) =>
  expect(verdict(format, headers)).toMatchObject({ ok: false }),
);

const sent = { time: "sent.at", id: "header:X-Id", tolerance: "10m" } as const;

test.each<[string, unknown, boolean]>([
  ["Unix seconds", now / 1000, true],
  ["Unix seconds with a fraction, as text", `${now / 1000}.25`, true],
  ["Unix milliseconds", now, true],
  ["ISO 8601", "2023-11-14T22:13:20.123456Z", true],
  ["ISO 8601 with an offset", "2023-11-14T23:13:20+0100", true],
  ["the largest age", now - 600_000, true],
  ["an older time", now - 600_001, false],
  ["a time ahead", now + 300_001, false],
  ["no time", undefined, false],
  ["a date in words", "Tue, 14 Nov 2023 22:13:20 GMT", false],
  ["a list", [now], false],
  ["a number beyond all times", 1e300, false],
])(
  "a generic source with a signed time takes %s for it, or rejects it: %j → %s",
  (_what, at, ok) => {
    const generic = { type: "generic", ...sent };
    const body = bytes({ sent: { at } });
    const headers = signDelivery(generic, secret, body, now);
    expect(verdict(sent, headers, String(body)).ok).toBe(ok);
  },
);

test("a test delivery of a generic source gets its time in the form that the sender uses", () => {
  const dated = (at: unknown): unknown =>
    JSON.parse(
      atTime({ type: "generic", ...sent }, bytes({ sent: { at, by: 1 } }), now).toString(),
    );
  const iso = new Date(now).toISOString();
  for (const [at, expected] of [
    [1, now / 1000],
    [1_600_000_000_000, now],
    ["2020-01-01T00:00:00Z", iso],
    [undefined, iso],
  ])
    expect(dated(at)).toEqual({ sent: { at: expected, by: 1 } });
});

test("the paths of a generic source read own members of the payload only", () => {
  const paths = ["__proto__.a", "constructor.name", "toString", "length", "a.__proto__.b"];
  for (const path of paths) {
    const provider = forSource(providerOf("generic"), {
      id: path,
      event: path,
      fields: { title: path },
    });
    expect(provider.deliveryId({ a: {} }, {})).toBeNull();
    expect(provider.describe({ a: {} }, {})).toMatchObject({ event: "event", title: null });
  }
});

test("a generic delivery is stored with the headers that its source reads, and read again as the source is now", async () => {
  const receiver = new TestReceiver();
  const generic = source("hub", {
    type: "generic",
    id: "header:X-Id",
    event: "header:X-Event",
    fields: { title: "deploy.title" },
  });
  receiver.sources = [generic];
  const body = bytes(payloads.genericDeploy);
  const signed = signDelivery(generic, "hush", body, now, { id: "d1", event: "deploy" });
  const headers = { ...signed, cookie: "a=b", authorization: "Bearer b" };
  const deliver = () => receiver.receive({ type: "generic", source: "hub", headers, body });
  expect(await deliver()).toMatchObject({ status: 200 });
  expect(await deliver()).toMatchObject({ body: { duplicate: true } });
  const [{ receipt } = { receipt: undefined }] = receiver.accepted;
  if (receipt === undefined) throw new Error("nothing is stored");
  expect(Object.keys(receipt.headers).sort()).toEqual(["content-type", "x-event", "x-id"]);
  const again = (sources: Parameters<typeof interpretStored>[1]) =>
    interpretStored(receipt, sources)?.event;
  expect(again({ hub: generic })).toMatchObject({ event: "deploy", title: "Deploy 7 failed" });
  const mended = { ...generic, fields: { title: "deploy.log" } };
  expect(again({ hub: mended })).toMatchObject({ event: "deploy", title: "out of disk" });
  expect(again({})).toMatchObject({ event: "event", title: null });
});

test("the same body with a signed time in it is a duplicate under any ID of a generic delivery", async () => {
  const receiver = new TestReceiver();
  const generic = source("hub", { type: "generic", ...sent });
  receiver.sources = [generic];
  const body = bytes({ sent: { at: now } });
  for (const id of ["d1", "forged"]) {
    const headers = signDelivery(generic, "hush", body, now, { id });
    await receiver.receive({ type: "generic", source: null, headers, body });
  }
  expect(receiver.accepted).toHaveLength(1);
});

test("each of several generic sources checks deliveries as its own keys say", async () => {
  const receiver = new TestReceiver();
  receiver.sources = [
    source("plain", { type: "generic" }),
    source("long", { type: "generic", algorithm: "sha512" }),
  ];
  receiver.secrets = new Map([
    ["plain", ["hush"]],
    ["long", ["hush"]],
  ]);
  const body = bytes({});
  for (const signer of receiver.sources) {
    const headers = signDelivery(signer, "hush", body, now);
    await receiver.receive({ type: "generic", source: null, headers, body });
  }
  expect(receiver.accepted.map(({ receipt }) => receipt.source)).toEqual(["plain", "long"]);
});
