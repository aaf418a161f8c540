import type { DatabaseSync } from "node:sqlite";
import { withJson } from "../../foundation/store/rows.ts";
import { tokenLimits } from "../../foundation/contracts/scopes.ts";
import { Problem } from "../../foundation/errors.ts";
import type { GroupCommit } from "../../foundation/store/group-commit.ts";
import type { FeatureTables } from "../../foundation/store/feature-tables.ts";
import type { StoredToken } from "./token-report.ts";

export const tokenTables: FeatureTables = {
  steps: [
    "",
    `CREATE TABLE tokens (
      name TEXT PRIMARY KEY,
      hash TEXT NOT NULL UNIQUE,
      scopes TEXT NOT NULL,
      agents TEXT,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      last_used_at INTEGER
    ) WITHOUT ROWID, STRICT;`,
  ],
};

/** Reads and writes `tokens`, which has the hashes of API tokens only. */
export function createTokenStore(db: DatabaseSync, { write, record }: GroupCommit) {
  const all = db.prepare(
    `SELECT name, hash, scopes, agents, created_at AS createdAt, expires_at AS expiresAt,
       last_used_at AS lastUsedAt FROM tokens ORDER BY name`,
  );
  const insert = db.prepare(
    "INSERT INTO tokens (name, hash, scopes, agents, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const find = db.prepare("SELECT 1 FROM tokens WHERE name = ?");
  const count = db.prepare("SELECT count(*) AS n FROM tokens");
  const removeOld = db.prepare("DELETE FROM tokens WHERE name = ? AND expires_at <= ?");
  const remove = db.prepare("DELETE FROM tokens WHERE name = ?");
  const removed = (name: string) => (): boolean => Number(remove.run(name).changes) > 0;
  const use = db.prepare("UPDATE tokens SET last_used_at = ? WHERE hash = ?");
  return {
    all: (): readonly StoredToken[] => all.all().map((row) => withJson(row, "scopes", "agents")),
    /** Replaces an expired token of this name. Rejects with Problem `token_exists` or `too_many_tokens`. */
    add: (token: StoredToken) =>
      write(() => {
        const { name, hash, scopes, agents, createdAt, expiresAt } = token;
        removeOld.run(name, createdAt);
        if (find.get(name) !== undefined) {
          const message = `There is a token ${JSON.stringify(name)} already.`;
          throw new Problem("token_exists", message, "Remove it with `al token rm`.");
        }
        if (Number(count.get()?.n) >= tokenLimits.tokens) {
          const message = `There are ${tokenLimits.tokens} tokens already; remove one first.`;
          throw new Problem("too_many_tokens", message);
        }
        const limit = agents && JSON.stringify(agents);
        insert.run(name, hash, JSON.stringify(scopes), limit, createdAt, expiresAt);
      }),
    /** Resolves with whether there was one. */
    remove: (name: string) => write(removed(name)),
    /** As `remove`, and waits for the store. */
    removeLater: (name: string) => record(removed(name)),
    /** Records when a token was last used. */
    use: (hash: string, at: number) => record(() => void use.run(at, hash)),
  };
}

export type TokenStore = ReturnType<typeof createTokenStore>;
