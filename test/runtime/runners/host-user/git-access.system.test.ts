import { join } from "node:path";
import { gitAccessTests } from "../git-access.ts";
import { perTest } from "../../../helpers/per-test.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { agentEvents } from "./agent-events.ts";

const root = perTest(tempDir);

gitAccessTests("as a host user", (job) => agentEvents(join(root(), "runs"), job));
