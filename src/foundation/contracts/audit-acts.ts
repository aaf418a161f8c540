/** The acts of people. */
export const auditActs = [
  ...(["answer", "approve", "steer", "continue", "session-remove", "backfill"] as const),
  ...(["trigger", "start-now", "replay", "kill", "raise"] as const),
  ...(["pause", "resume", "enable", "disable"] as const),
  ...([
    "stop",
    "edit",
    "clone",
    "allow-host",
    "restore",
    "ack",
    "alert-retry",
    "alert-test",
  ] as const),
  ...(["login", "logout", "login-link", "key-change"] as const),
  ...(["token-new", "token-remove"] as const),
] as const;

/** An act of a person, and the agent and run that it is about. */
export interface Act {
  readonly act: (typeof auditActs)[number];
  readonly agent?: string | null;
  readonly instanceId?: string | null;
  /** One line: secrets are removed and long texts cut before it is stored. */
  readonly detail?: string | null | undefined;
}
