import type { RunEvent } from "../../../streams/vocabulary.ts";
import type { TelemetryConfig } from "../../foundation/config/telemetry.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import type { MeteredCall } from "../../foundation/contracts/spend.ts";
import type { LostRun } from "../../foundation/store/recover.ts";
import { parseHeaders } from "./collector-headers.ts";
import { createSpanExport } from "./export-spans.ts";
import { runSpans } from "./run-spans.ts";
import { createSpans } from "./spans.ts";
import { traceparentOf } from "./trace-ids.ts";

export type Pipeline = ReturnType<typeof createPipeline>;

interface PipelineDeps {
  /** Called with the number of spans that are lost. */
  readonly onDropped: (count: number) => void;
  /** Warns now and then about a host. */
  readonly warn: (host: string, message: string) => void;
}

/** From events to a collector. */
export function createPipeline(
  context: SchedulerContext,
  config: TelemetryConfig,
  { onDropped, warn }: PipelineDeps,
) {
  const { env, version, status } = context;
  const { host } = new URL(config.otlp);
  const spans = createSpans(config);
  const sent = createSpanExport({
    collector: config,
    service: {
      "service.name": "almanac",
      "service.version": version,
      "service.namespace": status.snapshot().scheduler.project,
    },
    headers: headersOf(context, config.headers),
    proxyEnv: env,
    onDropped,
    onFailure: (reason) => warn(host, `${host} does not accept spans: ${reason}`),
  });
  return {
    onEvent: (event: RunEvent): void => sent.add(spans.onEvent(event)),
    onCall: (call: MeteredCall): void => sent.add(spans.onCall(call)),
    /** Runs whose end no scheduler saw; `at` is when the last scheduler lived. */
    onLost: (lost: readonly LostRun[], at: number): void => {
      for (const { outcome, ...run } of lost) {
        const reason = "its scheduler ended while it ran";
        sent.add(runSpans({ ...run, at, end: { outcome, reason, usage: null } }));
      }
    },
    traceparent: traceparentOf,
    close: sent.close,
  };
}

/** Reads the credential for each request, as others do. Its values are kept out of logs. */
function headersOf(
  { credential, redactor }: SchedulerContext,
  reference: string | null,
): () => Promise<Readonly<Record<string, string>>> {
  let known = "";
  return async () => {
    if (reference === null) return {};
    const { headers: text = "" } = (await credential(reference)).fields;
    const headers = parseHeaders(text);
    if (text !== known) redactor.add(Object.values(headers));
    known = text;
    return headers;
  };
}
