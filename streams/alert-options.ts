/** `[alert]` of an agent or of its project, resolved. */
export interface AlertOptions {
  /** Names of the targets; null for all targets of the project. */
  readonly to: readonly string[] | null;
  /** Failures in a row before the first alert. */
  readonly after: number;
  /** How often a lasting alert is repeated; null for never. */
  readonly remindMs: number | null;
  /** How long an agent may go without a success; null without a limit. */
  readonly noSuccessForMs: number | null;
}

/** Times of day, minutes since midnight in the project's time zone; `from` may be later than `until`, over midnight. */
export interface QuietHours {
  readonly from: number;
  readonly until: number;
}

export const alertTargetTypes = [
  "slack",
  "discord",
  "teams",
  "telegram",
  "ntfy",
  "email",
  "webhook",
] as const;
export type AlertTargetType = (typeof alertTargetTypes)[number];

/** One `[alerts.<name>]`. */
export interface AlertTarget {
  readonly name: string;
  readonly type: AlertTargetType;
  /** Credential reference, `type` or `type:instance`, with its address and secrets. */
  readonly credential: string;
  /** Recipients of an e-mail; empty for other types. */
  readonly to: readonly string[];
  /** When alerts wait, to become one digest at its end; null for never. */
  readonly quietHours: QuietHours | null;
  /** IDs of the chat users whose presses of a button answer questions. */
  readonly answers: readonly string[];
}
