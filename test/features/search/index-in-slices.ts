import { logsDir } from "../../../src/foundation/logs/log-files.ts";
import { indexPath, openIndex } from "../../../src/features/search/index-format.ts";
import { createIndexer } from "../../../src/features/search/indexer.ts";

/** Indexes the logs of a project in slices that are small, and ends when all are indexed. */
const projectDir = process.argv[2] ?? "";
const db = openIndex(indexPath(projectDir));
const options = { dir: logsDir(projectDir), now: Date.now, sliceBytes: 2_000 };
process.stdout.write("begins\n");
await createIndexer(db, options).indexAll();
db.close();
process.stdout.write("done\n");
