import type { Person } from "./questions.ts";

/** `steer` is a text for the model, `stop` ends the run after its turn, `continue` started a run from its session. */
export const inboxKinds = ["steer", "stop", "continue"] as const;
export type InboxKind = (typeof inboxKinds)[number];

/** Limits of the messages to a run: characters of a text, and how many may wait for the run. */
export const inboxLimits = { text: 4_000, unread: 50 } as const;

/** A message of a person about a run. Times are epoch ms. */
export interface InboxMessage {
  readonly seq: number;
  readonly at: number;
  readonly instanceId: string;
  readonly kind: InboxKind;
  readonly text: string;
  readonly by: Person;
  /** Null until the run has it. */
  readonly receivedAt: number | null;
  /** The run that a `continue` started; null until it has started, and for the others. */
  readonly continuedBy: string | null;
}
