import type { DatabaseSync } from "node:sqlite";
import type { McpTool } from "../../foundation/contracts/mcp.ts";
import type { FeatureTables } from "../../foundation/store/feature-tables.ts";
import type { GroupCommit } from "../../foundation/store/group-commit.ts";
import { withJson } from "../../foundation/store/rows.ts";

/**
 * `mcp_pins` holds the tools of MCP servers as agents know them: a changed definition is logged. `mcp_calls` holds the calls
 * that were sent and have not ended.
 */
export const mcpTables: FeatureTables = {
  steps: [
    "",
    `CREATE TABLE mcp_pins (
      agent TEXT NOT NULL,
      server TEXT NOT NULL,
      tool TEXT NOT NULL,
      at INTEGER NOT NULL,
      definition TEXT NOT NULL,
      PRIMARY KEY (agent, server, tool)
    ) WITHOUT ROWID, STRICT;
    CREATE TABLE mcp_calls (
      instance_id TEXT NOT NULL,
      key TEXT NOT NULL,
      PRIMARY KEY (instance_id, key)
    ) WITHOUT ROWID, STRICT;`,
  ],
};

/** A tool as an agent knows it, since `at`, in epoch ms. */
export interface McpPin {
  readonly tool: McpTool;
  readonly at: number;
}

/** Reads and writes `mcp_pins` and `mcp_calls`. */
export function createMcpStore(db: DatabaseSync, { write }: GroupCommit) {
  const ofServer = db.prepare(
    "SELECT at, definition AS tool FROM mcp_pins WHERE agent = ? AND server = ?",
  );
  const replace = db.prepare(
    "INSERT OR REPLACE INTO mcp_pins (agent, server, tool, at, definition) VALUES (?, ?, ?, ?, ?)",
  );
  const add = db.prepare("INSERT OR IGNORE INTO mcp_calls (instance_id, key) VALUES (?, ?)");
  const remove = db.prepare("DELETE FROM mcp_calls WHERE instance_id = ? AND key = ?");
  const removeAll = db.prepare("DELETE FROM mcp_calls WHERE instance_id = ?");
  return {
    /** The known tools of an agent's server, by name; empty for a new server. */
    pins: (agent: string, server: string): ReadonlyMap<string, McpPin> => {
      const pins = ofServer.all(agent, server).map((row) => withJson<McpPin>(row, "tool"));
      return new Map(pins.map((pin) => [pin.tool.name, pin]));
    },
    /** Makes these tools the known ones; resolves once they are committed. */
    pin: (agent: string, server: string, tools: readonly McpTool[], at: number): Promise<void> =>
      write(() => {
        for (const tool of tools) replace.run(agent, server, tool.name, at, JSON.stringify(tool));
      }),
    /** Records that a call is sent; false if it was sent before. */
    begin: (instanceId: string, key: string): Promise<boolean> =>
      write(() => add.run(instanceId, key).changes === 1),
    /** The call has ended. */
    end: (instanceId: string, key: string): Promise<void> =>
      write(() => void remove.run(instanceId, key)),
    /** The run has ended. */
    endRun: (instanceId: string): Promise<void> => write(() => void removeAll.run(instanceId)),
  };
}

export type McpStore = ReturnType<typeof createMcpStore>;
