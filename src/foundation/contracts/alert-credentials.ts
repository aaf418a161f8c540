import type { AlertTargetType } from "../../../streams/alert-options.ts";

/** The type of the credential with the address and the secrets of each type of target. */
export const alertCredentialTypes: Readonly<Record<AlertTargetType, string>> = {
  slack: "slack_webhook",
  discord: "discord_webhook",
  teams: "teams_webhook",
  telegram: "telegram_bot",
  ntfy: "ntfy_topic",
  email: "smtp",
  webhook: "alert_webhook",
};
