import type { z } from "zod";
import { withoutEndSlashes } from "../contracts/plain-text.ts";
import { parseCredentialReference } from "../contracts/credential-reference.ts";
import { choice, flag, httpUrl, otlpHeadersType, table, text } from "./fields.ts";

/** Where the spans of runs are sent. */
export interface TelemetryConfig {
  /** Address of the collector's traces. */
  readonly otlp: string;
  /** Credential with the headers of each request; null for none. */
  readonly headers: string | null;
  /** Whether spans hold prompts, the model's texts, and arguments and results of tools. */
  readonly content: boolean;
  readonly protocol: "http/protobuf" | "http/json";
}

const headersError = `"${otlpHeadersType}" or "${otlpHeadersType}:instance"`;

/** The project's `[telemetry]`. */
export const telemetrySchema = table({
  otlp: httpUrl('an http or https URL, e.g. "http://localhost:4318"').describe(
    "The OTLP address of the collector, like `OTEL_EXPORTER_OTLP_ENDPOINT`; `/v1/traces` is appended.",
  ),
  headers: text(headersError)
    .refine((reference) => parseCredentialReference(reference)?.type === otlpHeadersType, {
      error: headersError,
    })
    .optional()
    .describe("The credential that contains headers for each request, such as a key."),
  content: flag()
    .default(false)
    .describe(
      "Whether spans contain the prompt, the model's last text, and the arguments and results of tools. Known secrets are removed.",
    ),
  protocol: choice(["http/protobuf", "http/json"])
    .default("http/protobuf")
    .describe("Encoding of the requests."),
});

/** Null without the table. */
export function resolveTelemetry(
  given: z.output<typeof telemetrySchema> | undefined,
): TelemetryConfig | null {
  if (given === undefined) return null;
  const { otlp, headers = null, content, protocol } = given;
  return { otlp: tracesUrl(otlp), headers, content, protocol };
}

/** Vendors name the base address, such as `https://cloud.langfuse.com/api/public/otel`. */
function tracesUrl(base: string): string {
  const url = new URL(base);
  const path = withoutEndSlashes(url.pathname);
  url.pathname = path.endsWith("/v1/traces") ? path : `${path}/v1/traces`;
  return url.href;
}
