import { parseHeaders } from "../../../src/features/telemetry/collector-headers.ts";

test.each([
  ["Authorization=Basic%20cGs6c2s=", { Authorization: "Basic cGs6c2s=" }],
  [" x-honeycomb-team = key , x-a=b%2Cc,\n", { "x-honeycomb-team": "key", "x-a": "b,c" }],
  ["Authorization=Basic cGs6c2s=", { Authorization: "Basic cGs6c2s=" }],
])("parseHeaders reads %j like OTEL_EXPORTER_OTLP_HEADERS", (text, headers) => {
  expect(parseHeaders(text)).toEqual(headers);
});

test.each(["secret", "a=b,Bearer secret", "x-a=%zz-secret"])(
  "parseHeaders rejects %j without quoting it",
  (text) => {
    expect(() => parseHeaders(text)).toThrow(/^header \d of the collector's credential/);
    expect(() => parseHeaders(text)).not.toThrow(/secret|%zz/);
  },
);
