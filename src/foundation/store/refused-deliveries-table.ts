/** Deliveries that were refused, counted in stretches of ten minutes. `source` is empty where it is not known. */
export const refusedDeliveriesTable = `
  CREATE TABLE refused_deliveries (
    stretch INTEGER NOT NULL,
    type TEXT NOT NULL,
    source TEXT NOT NULL,
    result TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    count INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (stretch, type, source, result)
  ) WITHOUT ROWID, STRICT;
  CREATE INDEX refused_deliveries_by_time ON refused_deliveries (last_at);
`;
