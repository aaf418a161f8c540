import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { kubernetesFindings } from "../../../src/interfaces/doctor/checks/kubernetes.ts";
import { rights } from "../../../src/runtime/cluster/kubernetes/rights.ts";
import { replayExchanges } from "../../helpers/kubernetes/exchange.ts";
import { perFile } from "../../helpers/per-test.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { doctorContract } from "../../kubernetes/doctor-contract.ts";
import { writeKubeconfig } from "../../runtime/cluster/kubernetes/kubeconfig.ts";

const root = join(import.meta.dirname, "../../..");

test("the role of examples/kubernetes has exactly the rights that the doctor checks", () => {
  const role = readFileSync(join(root, "examples/kubernetes/runs/role.yaml"), "utf8");
  const line = (key: string) => new RegExp(`^ +(?:- )?${key}: (\\[.*\\])$`, "gm");
  const all = (key: string) =>
    [...role.matchAll(line(key))].map(([, list = ""]) => JSON.parse(list) as string[]);
  const [groups, resources, verbs] = [all("apiGroups"), all("resources"), all("verbs")];
  expect(groups.map((group, at) => [group, resources[at], verbs[at]])).toEqual(
    rights.map(({ group, resource, verbs: ofResource }) => [[group], [resource], ofResource]),
  );
});

/** What `npm run test:kubernetes` recorded of a real cluster, where the same tests are live. */
const recorded = join(root, "test/kubernetes/recorded-doctor.jsonl");

describe("recorded", () => {
  const server = perFile(
    () => replayExchanges(recorded),
    (server) => server.close(),
  );
  beforeEach(({ task }) => {
    vi.stubEnv("KUBECONFIG", writeKubeconfig(tempDir(), server().url));
    server().begin(`${task.suite?.name ?? ""} ${task.name}`);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    server().end();
  });

  doctorContract(() => ({ kubectl: () => Promise.resolve(""), renewToken: () => undefined }));
});

test.each([
  ["28", { severity: "warning", fix: "upgrade it to 1.29 or later" }],
  ["29+", { severity: "ok" }],
])("al doctor reports Kubernetes 1.%s with %j", async (minor, finding) => {
  const dir = tempDir();
  const file = join(dir, "older.jsonl");
  const text = readFileSync(recorded, "utf8");
  writeFileSync(file, text.replaceAll('"minor":"34"', `"minor":"${minor}"`));
  const older = await replayExchanges(file);
  onTestFinished(() => older.close());
  older.begin("al doctor with Kubernetes finds no fault with the documented role");
  vi.stubEnv("KUBECONFIG", writeKubeconfig(dir, older.url));
  onTestFinished(() => void vi.unstubAllEnvs());
  const [version] = await kubernetesFindings("agents");
  older.end();
  expect(version).toMatchObject(finding);
});
