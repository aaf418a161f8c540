/**
 * What calls to models cost by day, agent and model, so that a report adds up days and not calls. SQL triggers keep it
 * right for every writer. Amounts are REAL, as reports read them.
 */
export const modelCallDaysTable = `
  CREATE TABLE model_call_days (
    agent TEXT NOT NULL,
    day TEXT NOT NULL,
    model TEXT NOT NULL,
    nano REAL NOT NULL,
    subscription_nano REAL NOT NULL,
    calls INTEGER NOT NULL,
    tokens REAL NOT NULL,
    unpriced INTEGER NOT NULL,
    estimated INTEGER NOT NULL,
    PRIMARY KEY (agent, day, model)
  ) WITHOUT ROWID, STRICT;
  INSERT INTO model_call_days
    SELECT agent, day, model, ${sumsOf("model_calls")} FROM model_calls GROUP BY agent, day, model;

  CREATE TRIGGER call_insert AFTER INSERT ON model_calls BEGIN ${add("NEW", "+")} END;
  CREATE TRIGGER call_update AFTER UPDATE ON model_calls BEGIN ${add("OLD", "-")} ${add("NEW", "+")} END;
  CREATE TRIGGER call_delete AFTER DELETE ON model_calls BEGIN
    ${add("OLD", "-")}
    DELETE FROM model_call_days
      WHERE agent = OLD.agent AND day = OLD.day AND model = OLD.model AND calls = 0;
  END;
`;

/** The columns after the key, of one call. */
function columnsOf(row: string): readonly string[] {
  return [
    `CASE ${row}.billing WHEN 'subscription' THEN 0.0 ELSE ${row}.nano_usd + coalesce(${row}.reserved, 0) END`,
    `CASE ${row}.billing WHEN 'subscription' THEN ${row}.nano_usd ELSE 0.0 END`,
    "1",
    `coalesce(${row}.input, 0) + coalesce(${row}.cache_read, 0) + coalesce(${row}.cache_write, 0)
       + coalesce(${row}.output, 0)`,
    `${row}.billing = 'unpriced'`,
    `${row}.estimated`,
  ];
}

function sumsOf(table: string): string {
  return columnsOf(table)
    .map((column) => `sum(${column})`)
    .join(", ");
}

/** Adds a call to its row, or takes it away again. */
function add(row: string, sign: "+" | "-"): string {
  const names = ["nano", "subscription_nano", "calls", "tokens", "unpriced", "estimated"];
  const values = columnsOf(row).map((column) => `${sign} (${column})`);
  const sums = names.map((name) => `${name} = ${name} + excluded.${name}`);
  return `INSERT INTO model_call_days VALUES (${row}.agent, ${row}.day, ${row}.model, ${values.join(", ")})
    ON CONFLICT DO UPDATE SET ${sums.join(", ")};`;
}
