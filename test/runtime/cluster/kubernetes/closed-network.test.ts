import { createKubernetesEngine } from "../../../../src/runtime/cluster/kubernetes/kubernetes-engine.ts";
import { findDoor } from "../../../../src/runtime/cluster/kubernetes/closed-network.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { freePort } from "../../../helpers/free-port.ts";
import { project } from "../../../kubernetes/side.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { like } from "../../../helpers/like.ts";

const config = { address: "127.0.0.1:8443", namespace: null };

test("the network policy of Kubernetes names the address that no run would find", () =>
  expect(findDoor("no-such-host.invalid:8443")).rejects.toThrow(
    '[cluster] address = "no-such-host.invalid:8443"',
  ));

test("the network policy of Kubernetes reports an invalid kubeconfig each time", async () => {
  const engine = createKubernetesEngine({ config, project, kubeconfig: "/no/such/kubeconfig" });
  const noConfig = {
    code: "engine_unreachable",
    message: like("/no/such/kubeconfig"),
  };
  await expect(engine.ready()).rejects.toMatchObject(noConfig);
  await expect(engine.ready()).rejects.toMatchObject(noConfig);
});

test("the network policy of Kubernetes reports an API server that does not answer", async () => {
  const server = `http://127.0.0.1:${await freePort()}`;
  const engine = createKubernetesEngine({
    config,
    project,
    kubeconfig: writeKubeconfig(tempDir(), server),
  });
  await expect(engine.list()).rejects.toMatchObject({
    code: "engine_unreachable",
    message: like(`no API server of Kubernetes answers at ${server}`),
  });
});
