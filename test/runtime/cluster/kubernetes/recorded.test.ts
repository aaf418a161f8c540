import { join } from "node:path";
import { createKubernetesEngine } from "../../../../src/runtime/cluster/kubernetes/kubernetes-engine.ts";
import { replayExchanges } from "../../../helpers/kubernetes/exchange.ts";
import { perFile } from "../../../helpers/per-test.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { engineContract } from "../../../kubernetes/engine-contract.ts";
import { waitingContract } from "../../../kubernetes/waiting-contract.ts";
import { door, project } from "../../../kubernetes/side.ts";
import { writeKubeconfig } from "./kubeconfig.ts";

/** What `npm run test:kubernetes` recorded of a real cluster, where the same tests are live. */
const recorded = join(import.meta.dirname, "../../../kubernetes/recorded.jsonl");

const server = perFile(
  () => replayExchanges(recorded),
  (server) => server.close(),
);
let kubeconfig: string;
beforeEach(({ task }) => {
  kubeconfig = writeKubeconfig(tempDir(), server().url);
  server().begin(`${task.suite?.name ?? ""} ${task.name}`);
});
afterEach(() => server().end());

const side = {
  engine: (address = door) =>
    createKubernetesEngine({
      config: { address, namespace: null },
      project,
      kubeconfig,
    }),
  kubectl: () => Promise.resolve(""),
  apply: () => Promise.resolve(),
  renewToken: () => undefined,
  pollMs: 1,
};
engineContract(() => side);
waitingContract(() => side);
