/**
 * Work that waits or runs, for a query: a table and the condition on it. Its index is named, since SQLite would otherwise
 * look at each run of the history for its instance or its receipt, as it does not know how few rows are open.
 */
export const openTriggers = "triggers INDEXED BY triggers_open WHERE state <> 'ended'";
