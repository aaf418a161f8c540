import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKubernetesEngine } from "../../../../src/runtime/cluster/kubernetes/kubernetes-engine.ts";
import { replayExchanges, type ExchangeServer } from "../../../helpers/kubernetes/exchange.ts";
import { engineContract } from "../../../kubernetes/engine-contract.ts";
import { waitingContract } from "../../../kubernetes/waiting-contract.ts";
import { door, project } from "../../../kubernetes/side.ts";
import { writeKubeconfig } from "./kubeconfig.ts";

/** What `npm run test:kubernetes` recorded of a real cluster, where the same tests are live. */
const recorded = join(import.meta.dirname, "../../../kubernetes/recorded.jsonl");

const dir = mkdtempSync(join(tmpdir(), "al-kube-"));
let server: ExchangeServer;

beforeAll(async () => {
  server = await replayExchanges(recorded);
  writeKubeconfig(dir, server.url);
});
beforeEach(({ task }) => server.begin(`${task.suite?.name ?? ""} ${task.name}`));
afterEach(() => server.end());
afterAll(async () => {
  await server.close();
  rmSync(dir, { recursive: true });
});

const side = {
  engine: (address = door) =>
    createKubernetesEngine({
      config: { address, namespace: null },
      project,
      kubeconfig: join(dir, "kubeconfig"),
    }),
  kubectl: () => Promise.resolve(""),
  apply: () => Promise.resolve(),
  renewToken: () => undefined,
  pollMs: 1,
};
engineContract(() => side);
waitingContract(() => side);
