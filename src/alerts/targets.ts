import type { AlertTargetType } from "../../streams/alerts/alert-options.ts";
import type { TargetType } from "./target.ts";
import { discord } from "./targets/discord.ts";
import { email } from "./targets/email.ts";
import { ntfy } from "./targets/ntfy.ts";
import { slack } from "./targets/slack.ts";
import { teams } from "./targets/teams.ts";
import { telegram } from "./targets/telegram.ts";
import { webhook } from "./targets/webhook.ts";

/** All types of targets. */
export const targetTypes: Readonly<Record<AlertTargetType, TargetType>> = {
  slack,
  discord,
  teams,
  telegram,
  ntfy,
  email,
  webhook,
};
