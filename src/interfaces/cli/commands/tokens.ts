import { scopes, tokenLimits } from "../../../foundation/contracts/scopes.ts";
import type { Commands, Define } from "../help/al-command.ts";
import { wholeNumber } from "../options.ts";

const newToken: Define = (command) =>
  command
    .description("create an API token and print it; only its hash is stored")
    .argument("<name>", "shown in the audit trail: claude, grafana")
    .requiredOption("--scope <scopes>", `with commas: ${scopes.join(", ")}`)
    .option("--agents <agents>", "the only agents that it may be used for, with commas")
    .option(
      "--days <n>",
      "how long it is valid",
      wholeNumber(1, tokenLimits.maxDays),
      tokenLimits.defaultDays,
    )
    .examples(
      "al token new grafana --scope read",
      "al token new claude --scope read,trigger --agents triage --days 30",
    )
    .does(async () => (await import("../operator/tokens.ts")).newToken);

const listTokens: Define = (command) =>
  command
    .description("the default: the API tokens, when each was last used, and when it expires")
    .examples("al token ls", "al token ls --json")
    .does(async () => (await import("../operator/tokens.ts")).listTokens);

const removeToken: Define = (command) =>
  command
    .description("remove an API token: requests and streams with it end at once")
    .argument("<name>", "a token's name")
    .examples("al token rm claude")
    .does(async () => (await import("../operator/tokens.ts")).removeToken);

/** The commands of API tokens. */
export const tokenCommands = {
  token: (command) =>
    command
      .description("list, create and remove tokens of the HTTP API, each with its own scopes")
      .examples("al token", "al token new claude --scope read,trigger", "al token rm claude")
      .inner("ls", listTokens, { isDefault: true })
      .inner("new", newToken)
      .inner("rm", removeToken),
} satisfies Commands;
