import type { WebhookEvent } from "../../../streams/vocabulary.ts";

/** What the receiver knows of an event before its payload is read. */
type EventBase = Pick<WebhookEvent, "source" | "type" | "receiptId" | "timestamp">;

/** What a provider knows of an event; what it leaves out is null. */
export type EventFields = Partial<Omit<WebhookEvent, keyof EventBase | "event">> & {
  readonly event: string;
};

/** As long as the longest text that the code-hosting provider takes: only other providers' texts are ever cut. */
const maxBody = 65_536;
const maxText = 1_000;
const maxLabels = 100;

/** A normalized event. Texts are cut to a bounded length, since each work item carries its own copy. */
export function webhookEvent(base: EventBase, fields: EventFields): WebhookEvent {
  return {
    ...base,
    event: cut(fields.event, maxText),
    action: short(fields.action),
    repo: short(fields.repo),
    number: fields.number ?? null,
    title: short(fields.title),
    body: longText(fields.body, base.receiptId),
    url: short(fields.url),
    author: short(fields.author),
    labels: (fields.labels ?? []).slice(0, maxLabels).map((label) => cut(label, maxText)),
    sender: short(fields.sender),
    branch: short(fields.branch),
    conclusion: short(fields.conclusion),
  };
}

function short(value: string | null | undefined): string | null {
  return value === null || value === undefined ? null : cut(value, maxText);
}

function longText(value: string | null | undefined, receiptId: string): string | null {
  if (value === null || value === undefined || value.length <= maxBody) return value ?? null;
  return `${cut(value, maxBody)}\n[cut here; receipt ${receiptId} holds the whole payload]`;
}

/** Never ends in half of a surrogate pair: such a text is not valid UTF-8 when it is written. */
function cut(value: string, length: number): string {
  return value.length <= length ? value : value.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
}
