import { createSpanExport } from "../../../src/features/telemetry/export-spans.ts";
import type { ExportDeps, SpanExport } from "../../../src/features/telemetry/export-spans.ts";
import type { Span } from "../../../src/features/telemetry/span.ts";
import { otlpCollector, type OtlpCollector } from "../../helpers/otlp-collector.ts";

let collector: OtlpCollector;
let dropped: number;
let failures: string[];
beforeEach(async () => {
  collector = await otlpCollector();
  dropped = 0;
  failures = [];
});

function exporter({ limits, ...more }: Partial<ExportDeps> = {}): SpanExport {
  const sent = createSpanExport({
    collector: { otlp: `${collector.url}/v1/traces`, protocol: "http/protobuf" },
    service: { "service.name": "almanac" },
    headers: () => Promise.resolve({}),
    proxyEnv: {},
    onDropped: (count) => void (dropped += count),
    onFailure: (reason) => failures.push(reason),
    limits: { delayMs: 20, exportMs: 300, closeMs: 300, ...limits },
    ...more,
  });
  onTestFinished(() => sent.close());
  return sent;
}

const span: Span = {
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  spanId: "00f067aa0ba902b7",
  parentId: "b7ad6b7169203331",
  name: "chat claude",
  kind: "client",
  startMs: 1_795_356_300_250,
  endMs: 1_795_356_301_000.5,
  attributes: { "al.cost.usd": 0.25, "gen_ai.usage.output_tokens": 7, name: "dev", isCut: false },
  links: [{ traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b9c7c989f97918e1" }],
  error: "503",
};

test.each(["http/protobuf", "http/json"] as const)(
  "a collector that decodes %s by OpenTelemetry's official definitions gets the exported span",
  async (protocol) => {
    const sent = exporter({
      collector: { otlp: `${collector.url}/v1/traces`, protocol },
      headers: () => Promise.resolve({ "x-team": "ops" }),
    });
    sent.add([span]);
    await expect.poll(() => collector.spans).toHaveLength(1);
    expect(collector.seen.headers).toMatchObject({ "x-team": "ops" });
    const { parentId, kind, error, ...same } = span;
    expect(collector.spans[0]).toEqual({
      ...same,
      parentSpanId: parentId,
      kind: `SPAN_KIND_${kind.toUpperCase()}`,
      startMs: expect.closeTo(span.startMs, 1) as number,
      endMs: expect.closeTo(span.endMs, 1) as number,
      status: { code: "STATUS_CODE_ERROR", message: error },
      resource: { "service.name": "almanac" },
    });
  },
);

test("a full export queue drops and counts new spans without blocking the caller", async () => {
  collector.faults.delayMs = 100;
  const sent = exporter({ limits: { queued: 10, batch: 5 } });
  sent.add(Array.from({ length: 25 }, () => span));
  expect(dropped).toBeGreaterThanOrEqual(10);
  await expect.poll(() => collector.spans.length + dropped).toBe(25);
});

test("spans for a collector that is down are dropped, with a logged reason for each batch", async () => {
  await collector.close();
  const sent = exporter();
  sent.add([span, span]);
  await expect.poll(() => dropped).toBe(2);
  expect(failures).toEqual(["ECONNREFUSED"]);
});

test("a collector of spans that answers 503 gets the same batch again", async () => {
  collector.faults.status = 503;
  const sent = exporter({ limits: { delayMs: 20, exportMs: 5_000 } });
  sent.add([span]);
  await expect.poll(() => collector.seen.requests).toBe(1);
  collector.faults.status = 0;
  await expect.poll(() => collector.spans).toHaveLength(1);
  expect([dropped, failures]).toEqual([0, []]);
});

test.each([
  ["rejects the key is logged with the status, without the text of the response", 401],
  ["redirects is not followed", 307],
])("a collector of spans that %s", async (_, status) => {
  collector.faults.status = status;
  exporter().add([span]);
  await expect.poll(() => failures).toEqual([`it answers with status ${status}`]);
  expect(collector.seen.requests).toBe(1);
});

test("a collector of spans that does not answer delays the scheduler's end only briefly", async () => {
  collector.faults.delayMs = 60_000;
  const sent = exporter({ limits: { delayMs: 20, exportMs: 60_000, closeMs: 100 } });
  sent.add([span]);
  const from = performance.now();
  await sent.close();
  expect(performance.now() - from).toBeLessThan(50_000);
});

test("queued spans are sent when the scheduler stops", async () => {
  const sent = exporter({ limits: { delayMs: 60_000 } });
  sent.add([span]);
  await sent.close();
  expect(collector.spans).toHaveLength(1);
});
