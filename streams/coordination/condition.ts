/** What a run waits for; what is absent may be anything. */
export interface Condition {
  readonly kind: "webhook" | "agent-call";
  /** Webhook source, or the calling agent. */
  readonly source?: string | undefined;
  readonly event?: string | undefined;
  /** Path in the payload, such as `issue.labels.0.name`, to the value that it must have. */
  readonly where?: Readonly<Record<string, Scalar>> | undefined;
}

type Scalar = string | number | boolean | null;

/** What may end a wait. */
export interface Occurrence {
  readonly kind: "webhook" | "agent-call";
  /** The agent that is called; null for a webhook, which any agent may wait for. */
  readonly agent: string | null;
  readonly source: string;
  /** Null for a call. */
  readonly event: string | null;
  /** Any JSON; undefined for a call whose context is none. */
  readonly payload: unknown;
}

/** Whether this is what is waited for. */
export function meets(occurrence: Occurrence, condition: Condition): boolean {
  const { kind, source, event, where = {} } = condition;
  if (kind !== occurrence.kind) return false;
  if (source !== undefined && source !== occurrence.source) return false;
  if (event !== undefined && event !== occurrence.event) return false;
  return Object.entries(where).every(([path, value]) => at(occurrence.payload, path) === value);
}

/** Own members only: what every object has was not sent by anybody. */
function at(payload: unknown, path: string): unknown {
  let value = payload;
  for (const member of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, member)) return;
    value = (value as Readonly<Record<string, unknown>>)[member];
  }
  return value;
}
