import { field, type CredentialType } from "./credential-type.ts";

/** Credentials of apps that are registered with a service: several fields that belong together. */
export const appTypes: Readonly<Record<string, CredentialType>> = {
  linear_oauth: {
    description: "OAuth app of Linear",
    fields: {
      client_id: field("Client ID", ["LINEAR_CLIENT_ID"], "open"),
      client_secret: field("Client secret", ["LINEAR_CLIENT_SECRET"]),
      access_token: field("Access token", ["LINEAR_ACCESS_TOKEN"]),
      refresh_token: field("Refresh token", ["LINEAR_REFRESH_TOKEN"], "optional"),
    },
    presets: ["linear"],
  },
  reddit_oauth: {
    description: "Reddit script app and its account",
    fields: {
      client_id: field("App ID", ["REDDIT_CLIENT_ID"], "open"),
      client_secret: field("App secret", ["REDDIT_CLIENT_SECRET"]),
      username: field("User name of the account", ["REDDIT_USERNAME"], "open"),
      password: field("Password of the account", ["REDDIT_PASSWORD"]),
      user_agent: field("User agent of the requests", ["REDDIT_USER_AGENT"], "open"),
    },
    presets: ["reddit"],
  },
  x_twitter_api: {
    description: "App of X (Twitter)",
    fields: {
      consumer_key: field("Consumer key", ["X_CONSUMER_KEY"]),
      consumer_secret: field("Consumer secret", ["X_CONSUMER_SECRET"]),
      bearer_token: field("Bearer token", ["X_BEARER_TOKEN"], "optional"),
    },
    presets: ["x"],
  },
  x_twitter_user_oauth1: {
    description: "Account of X (Twitter), with OAuth 1.0a",
    fields: {
      access_token: field("Access token", ["X_ACCESS_TOKEN"]),
      access_token_secret: field("Access token secret", ["X_ACCESS_TOKEN_SECRET"]),
    },
    presets: ["x"],
  },
  x_twitter_user_oauth2: {
    description: "Account of X (Twitter), with OAuth 2.0",
    fields: {
      client_id: field("Client ID", ["X_OAUTH2_CLIENT_ID"]),
      client_secret: field("Client secret", ["X_OAUTH2_CLIENT_SECRET"]),
      access_token: field("Access token", ["X_OAUTH2_ACCESS_TOKEN"]),
      refresh_token: field("Refresh token", ["X_OAUTH2_REFRESH_TOKEN"], "optional"),
    },
    presets: ["x"],
  },
};

/** Credentials of alert targets. An address that suffices to write there is a secret, too. */
export const alertTypes: Readonly<Record<string, CredentialType>> = {
  slack_webhook: address("Slack incoming webhook", "SLACK_WEBHOOK_URL"),
  slack_app: {
    description: "Slack app and the channel that it posts to",
    fields: {
      bot_token: field("Bot User OAuth Token, xoxb-..., with the scope chat:write", [
        "SLACK_ALERT_BOT_TOKEN",
      ]),
      channel: field("ID or #name of the channel", ["SLACK_ALERT_CHANNEL"], "open"),
      app_token: field(
        "App-Level Token, xapp-..., with the scope connections:write; to answer with buttons",
        ["SLACK_ALERT_APP_TOKEN"],
        "optional",
      ),
      url: field(
        "Address of another API (default: https://slack.com/api)",
        ["SLACK_ALERT_API_URL"],
        "optional",
        "open",
      ),
    },
  },
  discord_webhook: address("Webhook of a Discord channel", "DISCORD_WEBHOOK_URL"),
  teams_webhook: address("Teams workflow that posts messages", "TEAMS_WEBHOOK_URL"),
  telegram_bot: {
    description: "Telegram bot and the chat that it writes to",
    fields: {
      token: field("Token of the bot, from @BotFather", ["TELEGRAM_BOT_TOKEN"]),
      chat: field("ID of the chat, or @name of a channel", ["TELEGRAM_CHAT_ID"], "open"),
      url: field(
        "Address of your own Bot API server (default: https://api.telegram.org)",
        ["TELEGRAM_API_URL"],
        "optional",
        "open",
      ),
    },
  },
  ntfy_topic: {
    description: "Topic of ntfy",
    fields: {
      url: field("Address with the topic, such as https://ntfy.sh/my-topic", ["NTFY_URL"]),
      token: field("Access token", ["NTFY_TOKEN"], "optional"),
    },
  },
  smtp: {
    description: "Mail server that sends alerts",
    fields: {
      host: field("Name of the server", ["SMTP_HOST"], "open"),
      port: field(
        "Port (default: 587, or 465 with implicit TLS)",
        ["SMTP_PORT"],
        "optional",
        "open",
      ),
      user: field("User name", ["SMTP_USER"], "optional", "open"),
      password: field("Password", ["SMTP_PASSWORD"], "optional"),
      from: field("Sender address of the mails", ["SMTP_FROM"], "open"),
      tls: field("starttls (default), implicit, or none", ["SMTP_TLS"], "optional", "open"),
    },
  },
  alert_webhook: {
    description: "Receiver of alerts, as signed by Standard Webhooks",
    fields: {
      url: field("Address", ["ALERT_WEBHOOK_URL"]),
      secret: field("Secret that the receiver verifies with: whsec_ and 24 to 64 bytes as base64", [
        "ALERT_WEBHOOK_SECRET",
      ]),
    },
  },
};

/** The scheduler's credential for the collector of its traces. */
export const telemetryTypes: Readonly<Record<string, CredentialType>> = {
  otlp_headers: {
    description: "Headers of an OpenTelemetry collector",
    fields: {
      headers: field(
        "As OTEL_EXPORTER_OTLP_HEADERS has them: Authorization=Basic%20...,x-team=ops",
        ["OTEL_EXPORTER_OTLP_HEADERS"],
      ),
    },
  },
};

function address(description: string, variable: string): CredentialType {
  return { description, fields: { url: field("Its address, https://...", [variable]) } };
}
