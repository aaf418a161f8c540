import { Problem } from "../../foundation/errors.ts";

/**
 * Reads `name=value,name=value` with percent-encoded values, as OTEL_EXPORTER_OTLP_HEADERS has them. Throws a Problem
 * without the text, which is secret. https://opentelemetry.io/docs/specs/otel/protocol/exporter
 */
export function parseHeaders(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name = "", value = ""] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=(.*)$/s.exec(pair) ?? [];
      const decoded = name === "" ? null : decode(value.trim());
      if (decoded === null) {
        const message = `header ${pairs.indexOf(pair) + 1} of the collector's credential is not name=value`;
        throw new Problem(
          "invalid_credential",
          message,
          'write "Authorization=Basic%20...,x-team=ops", values percent-encoded',
        );
      }
      return [name, decoded] as const;
    }),
  );
}

function decode(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}
