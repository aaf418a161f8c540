import { project, projectChange, refusal } from "./samples.ts";

const withOtlp = (otlp: string) => `[telemetry]\notlp = "${otlp}"\n`;

test.each([
  [
    "https://cloud.langfuse.com/api/public/otel/",
    "https://cloud.langfuse.com/api/public/otel/v1/traces",
  ],
  ["https://a.example/v1/traces", "https://a.example/v1/traces"],
  ["https://a.example/otlp?tenant=a", "https://a.example/otlp/v1/traces?tenant=a"],
])("[telemetry] otlp = %s sends spans to %s", (otlp, traces) => {
  expect(project(withOtlp(otlp)).telemetry).toEqual({
    otlp: traces,
    headers: null,
    content: false,
    protocol: "http/protobuf",
  });
});

test.each([
  ['otlp = "localhost:4318"', /otlp is "localhost:4318"; expected an http or https URL/],
  ["content = true", /telemetry.otlp/],
  ['otlp = "http://a"\nheaders = "github_token"', /expected "otlp_headers" or "otlp_headers:/],
])("[telemetry] refuses %s", (text, message) =>
  expect(refusal(projectChange(`[telemetry]\n${text}\n`))).toMatch(message),
);
