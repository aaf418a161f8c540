import { SpanKind, SpanStatusCode, TraceFlags, type SpanContext } from "@opentelemetry/api";
import { ExportResultCode, millisToHrTime, type ExportResult } from "@opentelemetry/core";
import { OTLPExporterError } from "@opentelemetry/otlp-exporter-base";
import { createOtlpHttpExportDelegate } from "@opentelemetry/otlp-exporter-base/node-http";
import {
  JsonTraceSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from "@opentelemetry/sdk-trace";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { setTimeout as wait } from "node:timers/promises";
import type { RemoteSpan } from "../../../streams/vocabulary.ts";
import type { TelemetryConfig } from "../../foundation/config/telemetry.ts";
import { messageOf } from "../../foundation/errors.ts";
import type { Span } from "./span.ts";

interface Collector {
  readonly collector: Pick<TelemetryConfig, "otlp" | "protocol">;
  /** The headers of each request. A rejection fails its batch. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  readonly proxyEnv: NodeJS.ProcessEnv;
}

export interface ExportDeps extends Collector {
  /** Attributes of the scheduler that sends the spans, such as `service.name`. */
  readonly service: Readonly<Record<string, string>>;
  /** Called with a number of spans that are lost: the queue was full, or the collector did not take them. */
  readonly onDropped: (count: number) => void;
  /** Why a batch is lost. */
  readonly onFailure: (reason: string) => void;
  readonly limits?: Partial<Limits>;
}

interface Limits {
  readonly queued: number;
  readonly batch: number;
  /** How long a span waits for others, in ms. */
  readonly delayMs: number;
  /** How long a batch may take, with its retries, in ms. */
  readonly exportMs: number;
  /** How long the last batches may take when the scheduler stops, in ms. */
  readonly closeMs: number;
}

const defaultLimits: Limits = {
  queued: 2048,
  batch: 512,
  delayMs: 2_000,
  exportMs: 10_000,
  closeMs: 2_000,
};

export type SpanExport = ReturnType<typeof createSpanExport>;

/**
 * Sends spans to a collector in batches, one at a time. Its queue is bounded and drops new spans when it is full, so that
 * runs never wait for it. https://opentelemetry.io/docs/specs/otlp
 */
export function createSpanExport(deps: ExportDeps) {
  const { onDropped, onFailure, service } = deps;
  const limits = { ...defaultLimits, ...deps.limits };
  const delegate = otlpDelegate(deps, limits.exportMs);
  const resource = resourceFromAttributes(service);
  let queued = 0;
  const exporter: SpanExporter = {
    export: (spans, done) => {
      queued -= spans.length;
      const onResult = (result: ExportResult): void => {
        if (result.code === ExportResultCode.FAILED) {
          onDropped(spans.length);
          onFailure(failureText(result.error));
        }
        done(result);
      };
      delegate.export(spans, onResult);
    },
    forceFlush: () => delegate.forceFlush(),
    shutdown: () => delegate.shutdown(),
  };
  const processor = new BatchSpanProcessor({
    exporter,
    maxQueueSize: limits.queued,
    maxExportBatchSize: limits.batch,
    scheduledDelayMillis: limits.delayMs,
    exportTimeoutMillis: limits.exportMs,
  });
  return {
    add: (spans: readonly Span[]): void => {
      for (const span of spans) {
        if (queued >= limits.queued) {
          onDropped(1);
        } else {
          queued += 1;
          processor.onEnd(readable(span, resource));
        }
      }
    },
    /** Sends the waiting spans, within a short time limit. */
    close: async (): Promise<void> => {
      const sent = processor.shutdown().catch(() => undefined);
      await Promise.race([sent, wait(limits.closeMs, undefined, { ref: false })]);
    },
  };
}

/** Sends a request without spans; resolves with null if the collector accepts it, else with the reason. */
export async function askCollector(collector: Collector): Promise<string | null> {
  // A short timeout, as a person waits for the result.
  const delegate = otlpDelegate(collector, 3_000);
  const { code, error } = await new Promise<ExportResult>((done) => delegate.export([], done));
  return code === ExportResultCode.FAILED ? failureText(error) : null;
}

/** The maintained exporter without its environment variables: a variable could send spans, or a key, elsewhere. */
function otlpDelegate(
  { collector: { otlp: url, protocol }, headers, proxyEnv }: Collector,
  exportMs: number,
) {
  const isJson = protocol === "http/json";
  const contentType = isJson ? "application/json" : "application/x-protobuf";
  const agentOptions = { proxyEnv, keepAlive: true };
  return createOtlpHttpExportDelegate(
    {
      url,
      headers: async () => ({ ...(await headers()), "content-type": contentType }),
      // The default of OpenTelemetry: gzip takes as much processor time as the spans.
      compression: "none",
      timeoutMillis: exportMs,
      concurrencyLimit: 8,
      agentFactory: (given) =>
        given === "https:" ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions),
    },
    isJson ? JsonTraceSerializer : ProtobufTraceSerializer,
    isJson ? "otlp_http_json_span_exporter" : "otlp_http_span_exporter",
    TraceExporterMetricsHelper,
    undefined,
  );
}

/** Without the texts of the collector's answer, which may quote the request. */
function failureText(error: Error | undefined): string {
  if (error instanceof OTLPExporterError && error.code !== undefined) {
    return `it answers with status ${error.code}`;
  }
  const hasCode = error !== undefined && "code" in error && typeof error.code === "string";
  return hasCode ? String(error.code) : messageOf(error);
}

const kinds = {
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
} as const satisfies Record<Span["kind"], SpanKind>;

type Resource = ReadableSpan["resource"];

function readable(span: Span, resource: Resource): ReadableSpan {
  const { traceId, spanId, parentId, name, kind, startMs, endMs, error } = span;
  const context = contextOf({ traceId, spanId });
  return {
    name,
    kind: kinds[kind],
    spanContext: () => context,
    ...(parentId !== null && { parentSpanContext: contextOf({ traceId, spanId: parentId }) }),
    startTime: millisToHrTime(startMs),
    endTime: millisToHrTime(endMs),
    duration: millisToHrTime(endMs - startMs),
    ended: true,
    status:
      error === null
        ? { code: SpanStatusCode.UNSET }
        : { code: SpanStatusCode.ERROR, message: error.slice(0, 1000) },
    attributes: span.attributes,
    links: span.links.map((link) => ({ context: { ...contextOf(link), isRemote: true } })),
    events: [],
    resource,
    instrumentationScope: { name: "almanac" },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function contextOf({ traceId, spanId }: RemoteSpan): SpanContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED };
}
