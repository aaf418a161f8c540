import { kubernetesFindings } from "../../src/interfaces/doctor/checks/kubernetes.ts";
import type { KubernetesSide } from "./side.ts";

/** What `al doctor` says of a cluster, with the kubeconfig in KUBECONFIG. */
export function doctorContract(side: () => Pick<KubernetesSide, "kubectl" | "renewToken">): void {
  const check = (namespace: string | null = "agents") => kubernetesFindings(namespace);
  const role = (verbs: string) => {
    const rule = { apiGroups: ["batch"], resources: ["jobs"], verbs: verbs.split(" ") };
    const patch = JSON.stringify([{ op: "replace", path: "/rules/0", value: rule }]);
    return side().kubectl("patch", "role", "almanac", "-n", "agents", "--type=json", "-p", patch);
  };
  const everything = "clusterrolebinding/almanac-everything";

  describe("al doctor with Kubernetes", () => {
    test("finds no fault with the documented role", async () =>
      expect(await check()).toMatchObject([
        {
          severity: "ok",
          what: expect.stringMatching(/^Kubernetes v1\.\d+\.\d+ at http/) as string,
        },
        { severity: "ok", what: "this user has all rights that runs need in the namespace agents" },
      ]));

    test("lists each permission that the role lacks", async () => {
      await role("create list");
      const [, access] = await check();
      expect(access).toMatchObject({
        severity: "error",
        what: "this user lacks rights in the namespace agents: patch jobs, delete jobs",
        fix: expect.stringContaining("kubectl apply -k examples/kubernetes/runs") as string,
      });
      await role("create patch delete list");
    });

    test("names a namespace that does not exist", async () => {
      const [kind, name = ""] = everything.split("/");
      const to = ["--clusterrole=cluster-admin", "--user=almanac"];
      await side().kubectl("create", kind ?? "", name, ...to);
      const [, access] = await check("nowhere");
      expect(access).toMatchObject({
        severity: "error",
        what: "there is no namespace nowhere, so no run can start",
        fix: "kubectl create namespace nowhere",
      });
      await side().kubectl("delete", everything);
    });

    test("reports that the server does not know the user", async () => {
      side().renewToken(false);
      const [fault] = await check();
      expect(fault).toMatchObject({
        severity: "error",
        what: "Kubernetes refused to say what this user may do: it answered with HTTP 401",
        fix: expect.stringContaining("renew the login") as string,
      });
      side().renewToken(true);
    });
  });
}
