import { parseHeaders } from "../../../features/telemetry/collector-headers.ts";
import { isLoopback } from "../../../foundation/contracts/loopback.ts";
import { loadCredential } from "../../../foundation/credentials/load-credential.ts";
import { finding, ofError, ok, type Check } from "../finding.ts";

/** Whether the collector of `[telemetry]` accepts a request, which has no spans, with its credential. */
export const telemetry: Check = async ({ project, home, env }) => {
  const collector = project?.telemetry ?? null;
  if (collector === null) return [];
  const where = "config.toml [telemetry]";
  try {
    const { headers: reference } = collector;
    const stored = reference === null ? null : await loadCredential(home, reference);
    const headers = parseHeaders(stored?.fields.headers ?? "");
    const { askCollector } = await import("../../../features/telemetry/export-spans.ts");
    const asked = { collector, proxyEnv: env, headers: () => Promise.resolve(headers) };
    const why = await askCollector(asked);
    const { host, hostname, protocol } = new URL(collector.otlp);
    const isInClear = reference !== null && protocol === "http:" && !isLoopback(hostname);
    const clear = `headers are sent to ${host} unencrypted: others on the network can read them`;
    const unencrypted = isInClear ? [finding("warning", clear, where, "use https in otlp")] : [];
    if (why === null) return [...unencrypted, ok(`the collector ${host} accepts spans`)];
    const fix = "start the collector, or correct otlp and headers; runs do not wait for it";
    return [
      ...unencrypted,
      finding("warning", `the collector ${host} does not accept spans: ${why}`, where, fix),
    ];
  } catch (error) {
    return [ofError(error, "error", where)];
  }
};
