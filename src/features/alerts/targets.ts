import type { AlertTarget, AlertTargetType } from "../../../streams/alert-options.ts";
import { messageOf } from "../../foundation/errors.ts";
import type { Fields, TargetType } from "./target.ts";
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

/** Why alerts can't be sent to a target with such a credential; null when they can, as far as is known without sending. */
export function targetProblem(target: AlertTarget, fields: Fields): string | null {
  try {
    targetTypes[target.type].check(fields, target);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
