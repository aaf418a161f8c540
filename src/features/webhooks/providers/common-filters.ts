import type { FilterRules } from "../provider.ts";

/**
 * Filters that every provider has: they keep an agent from being started by its own echo. An event without a
 * sender is kept out by neither.
 */
export const commonFilters: FilterRules = {
  ignoreSenders: {
    kind: "strings",
    meaning:
      "Not when one of these caused the event: logins, e-mails or ids, as the event's sender",
    attribute: "sender",
    ignoreCase: true,
    excludes: true,
  },
  ignoreBots: {
    kind: "boolean",
    meaning: "Not when a bot or an integration caused the event",
    attribute: "senderIsBot",
    excludes: true,
  },
};
