import { dirname, join } from "node:path";
import { networkAccessTests } from "../network-access.ts";
import { perTest } from "../../../helpers/per-test.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { agentEvents } from "./agent-events.ts";
import { whyNoNetwork } from "./network-namespaces.ts";
import { noteSkipped } from "../../../helpers/note-skipped.ts";

const missing = whyNoNetwork();
noteSkipped("closed networks of host users", missing);

describe.skipIf(missing !== null)("a host-user run with a closed network", () => {
  const root = perTest(tempDir);
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ""}` };
  networkAccessTests("host user", process.execPath, (job) =>
    agentEvents(join(root(), "runs"), job, { network: () => "closed", env, graceMs: 3000 }),
  );
});
