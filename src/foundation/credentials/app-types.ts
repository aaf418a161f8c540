import { field } from "./credential-type.ts";
import type { CredentialType } from "./credential-type.ts";

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
      user_agent: field("User agent that requests name", ["REDDIT_USER_AGENT"], "open"),
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
    description: "Account of X (Twitter), by OAuth 1.0a",
    fields: {
      access_token: field("Access token", ["X_ACCESS_TOKEN"]),
      access_token_secret: field("Access token secret", ["X_ACCESS_TOKEN_SECRET"]),
    },
    presets: ["x"],
  },
  x_twitter_user_oauth2: {
    description: "Account of X (Twitter), by OAuth 2.0",
    fields: {
      client_id: field("Client ID", ["X_OAUTH2_CLIENT_ID"]),
      client_secret: field("Client secret", ["X_OAUTH2_CLIENT_SECRET"]),
      access_token: field("Access token", ["X_OAUTH2_ACCESS_TOKEN"]),
      refresh_token: field("Refresh token", ["X_OAUTH2_REFRESH_TOKEN"], "optional"),
    },
    presets: ["x"],
  },
};
