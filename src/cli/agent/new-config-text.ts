import { stringify } from "smol-toml";
import { schemaLine } from "../schema-files.ts";
import type { NewConfig } from "./choose-agent.ts";

/** The `config.toml` of a new agent. */
export function newConfigText({
  models,
  credentials,
  schedule,
  callable,
  timeout,
  ...agent
}: NewConfig): string {
  const head = stringify({
    models,
    credentials,
    ...(schedule === null ? {} : { schedule }),
    ...(callable ? { callable } : {}),
    ...(timeout === null ? {} : { timeout }),
  });
  const webhooks = agent.webhooks.map((source) => ({ source }));
  const triggers =
    webhooks.length === 0 ? "" : `\n${stringify({ webhooks }).trim()}\n${filterHint}`;
  const runtime = stringify({ runtime: agent.runtime }).trim();
  return `${schemaLine("agent", "../../")}\n\n${head.trim()}\n${triggers}\n${runtime}\n`;
}

const filterHint = `# Filters choose events, such as events = ["issues"]; without any, everything from the source starts it.\n`;
