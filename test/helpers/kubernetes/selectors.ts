import type { KubeObject } from "./wire-types.ts";

/** Whether an object is among those that a request asks for: `key=value` of labels and of fields. */
export function isSelected(object: KubeObject, query: URLSearchParams): boolean {
  const labels = pairsOf(query.get("labelSelector"));
  const fields = pairsOf(query.get("fieldSelector"));
  return (
    labels.every(([key, value]) => object.metadata.labels?.[key] === value) &&
    fields.every(([path, value]) => fieldOf(object, path) === value)
  );
}

function pairsOf(selector: string | null): [string, string][] {
  if (selector === null || selector === "") return [];
  return selector.split(",").map((part) => {
    const at = part.indexOf("=");
    if (at < 0) throw new Error(`the small API server knows key=value alone, not ${part}`);
    return [part.slice(0, at), part.slice(at + 1)];
  });
}

/** What stands at a path such as `spec.nodeName`. */
export function fieldOf(object: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce((value: unknown, key) => (value as Record<string, unknown> | undefined)?.[key], object);
}
