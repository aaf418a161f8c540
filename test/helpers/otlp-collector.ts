import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { resolve } from "node:path";
import protobuf from "protobufjs";
import { listen } from "./listen.ts";
import { pause } from "./pause.ts";

const fixtures = resolve(import.meta.dirname, "../fixtures/opentelemetry-proto");
const root = new protobuf.Root();
root.resolvePath = (_origin, target) => resolve(fixtures, target);
root.loadSync("opentelemetry/proto/collector/trace/v1/trace_service.proto");
const requestType = root.lookupType(
  "opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest",
);

type Values = Readonly<Record<string, string | number | boolean>>;
interface Ids {
  readonly traceId: unknown;
  readonly spanId: unknown;
}
type WireAttributes = readonly { readonly key: string; readonly value: Values }[];
interface WireSpan extends Ids {
  readonly parentSpanId: unknown;
  readonly name: string;
  readonly kind: string;
  readonly startTimeUnixNano: number;
  readonly endTimeUnixNano: number;
  readonly attributes: WireAttributes;
  readonly links: readonly Ids[];
  readonly status: { readonly code?: string; readonly message?: string };
}
interface WireRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: WireAttributes };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

/** A collector of OTLP over HTTP that decodes by the official definitions, in the fixtures. */
export async function otlpCollector({ port = 0 } = {}) {
  const spans: ReceivedSpan[] = [];
  const seen = { requests: 0, headers: {} as IncomingMessage["headers"], paths: new Set<string>() };
  const faults = { status: 0, delayMs: 0 };
  const server = createServer((request, response) => {
    void (async () => {
      const body = await buffer(request);
      seen.requests += 1;
      seen.headers = request.headers;
      seen.paths.add(`${request.method ?? ""} ${request.url ?? ""}`);
      if (faults.delayMs > 0) await pause(faults.delayMs, "the collector answers late");
      if (faults.status === 0) spans.push(...decoded(request, body));
      response.writeHead(faults.status || 200).end();
    })().catch((error: unknown) => response.writeHead(400).end(String(error)));
  });
  const url = `http://127.0.0.1:${await listen(server, port)}`;
  const close = () => new Promise((done) => server.close(done).closeAllConnections());
  onTestFinished(() => void close());
  return { url, spans, seen, faults, close };
}

export type OtlpCollector = Awaited<ReturnType<typeof otlpCollector>>;

function decoded({ headers }: IncomingMessage, sent: Buffer): readonly ReceivedSpan[] {
  const isJson = headers["content-type"] === "application/json";
  const message = isJson ? ofJson(sent.toString()) : requestType.decode(sent);
  const request = requestType.toObject(message, {
    longs: Number,
    enums: String,
    bytes: Array,
    defaults: true,
  }) as unknown as WireRequest;
  return request.resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => received(span, valuesOf(resource.attributes))),
    ),
  );
}

/** OTLP/JSON is the JSON of protobuf, except that the ids are hexadecimal. Throws for fields that are not defined. */
function ofJson(json: string): protobuf.Message {
  const withBytes = JSON.parse(json, (key, value: unknown) =>
    /^(trace|span|parentSpan)Id$/.test(key)
      ? Buffer.from(value as string, "hex").toString("base64")
      : value,
  ) as object;
  assertDefined(requestType, withBytes);
  return requestType.fromObject(withBytes);
}

function assertDefined(type: protobuf.Type, value: object): void {
  for (const [key, inner] of Object.entries(value) as [string, unknown][]) {
    const field = type.fields[key];
    if (field === undefined) throw new Error(`${type.name} has no field ${key}`);
    const { resolvedType } = field.resolve();
    if (!(resolvedType instanceof protobuf.Type)) continue;
    for (const one of field.repeated ? (inner as object[]) : [inner as object]) {
      assertDefined(resolvedType, one);
    }
  }
}

/** A span as the collector received it; ids are hexadecimal, and that of a parent is empty for the first of a trace. */
export type ReceivedSpan = ReturnType<typeof received>;

function received(span: WireSpan, resource: Values) {
  const { name, kind, status } = span;
  return {
    ...idsOf(span),
    parentSpanId: hex(span.parentSpanId),
    name,
    kind,
    startMs: span.startTimeUnixNano / 1e6,
    endMs: span.endTimeUnixNano / 1e6,
    attributes: valuesOf(span.attributes),
    links: span.links.map(idsOf),
    /** `STATUS_CODE_ERROR` and its message; empty without. */
    status,
    resource,
  };
}

const hex = (bytes: unknown): string => Buffer.from(bytes as readonly number[]).toString("hex");
const idsOf = ({ traceId, spanId }: Ids) => ({ traceId: hex(traceId), spanId: hex(spanId) });

function valuesOf(attributes: WireAttributes): Values {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const { stringValue, boolValue, intValue, doubleValue } = value;
      return [key, stringValue ?? boolValue ?? intValue ?? doubleValue ?? ""];
    }),
  );
}

/** The traces as indented lines, by parents; spans of one parent in the order of their starts. */
export function treeOf(spans: readonly ReceivedSpan[]): readonly string[] {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const linesOf = (parent: string, depth: number): string[] =>
    spans
      .filter(({ parentSpanId }) =>
        parent === "" ? !known.has(parentSpanId) : parentSpanId === parent,
      )
      .toSorted((a, b) => a.startMs - b.startMs)
      .flatMap(({ name, spanId }) => [
        `${"  ".repeat(depth)}${name}`,
        ...linesOf(spanId, depth + 1),
      ]);
  return linesOf("", 0);
}
