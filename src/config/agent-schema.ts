import type { z } from "zod";
import { agentKeys } from "./agent-keys.ts";
import { fileSchema } from "./key-table.ts";

/** An agent's `config.toml`. */
export const agentSchema = fileSchema(agentKeys);
export type AgentTable = z.output<typeof agentSchema>;
