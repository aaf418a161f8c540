import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createKubernetesEngine } from "../../src/runtime/cluster/kubernetes/kubernetes-engine.ts";
import { testBase, testEngine } from "../helpers/docker.ts";
import { missingProgram, program } from "../helpers/kubernetes/programs.ts";
import { startLiveCluster, type LiveCluster } from "../helpers/kubernetes/live-cluster.ts";
import { recordExchanges } from "../helpers/kubernetes/exchange.ts";
import { door, project, runImage, type KubernetesSide } from "./side.ts";

/** The manifests that the docs tell operators to apply. */
const runsBase = join(import.meta.dirname, "../../examples/kubernetes/runs");
const bindRole = "create rolebinding almanac -n agents --role=almanac --user=almanac".split(" ");

/** A cluster of two nodes with the namespace and the role that the docs name, and nothing else. */
export async function preparedCluster(images: readonly string[] = []): Promise<LiveCluster> {
  const { missing } = await testEngine();
  const lacks = missing ?? missingProgram;
  if (lacks !== null) throw new Error(`no cluster can be started: ${lacks}`);
  execFileSync("docker", ["tag", testBase, runImage]);
  const cluster = await startLiveCluster(2, { images: [runImage, ...images] });
  const { kubectl } = cluster;
  await kubectl("apply", "-k", runsBase);
  await kubectl(...bindRole);
  return cluster;
}

export async function apply(cluster: LiveCluster, objects: string): Promise<void> {
  const args = ["--kubeconfig", cluster.kubeconfig("admin"), "apply", "-f", "-"];
  const child = spawn(program("kubectl"), args, { stdio: ["pipe", "ignore", "pipe"] });
  child.stdin.end(objects);
  const exited = once(child, "exit") as Promise<[number | null]>;
  const [said, [code]] = await Promise.all([text(child.stderr), exited]);
  if (code !== 0) throw new Error(said);
}

/** Resolves when the namespace has no object of a run, and no node a process of one. */
export async function nothingLeft({ kubectl, nodes }: LiveCluster): Promise<void> {
  const objects = () => kubectl("get", "jobs,pods,secrets", "-o", "name");
  await expect.poll(objects, { timeout: 120_000, interval: 500 }).toBe("");
  for (const { ctr } of nodes) {
    const running = () => ctr("tasks", "ls", "-q");
    await expect.poll(running, { timeout: 120_000, interval: 1_000 }).toBe("");
  }
}

/** A real cluster whose exchanges with the engine are recorded into the file. */
export async function recordedSide(cluster: LiveCluster, file: string) {
  const config = JSON.parse(readFileSync(cluster.kubeconfig("almanac"), "utf8")) as Config;
  const ca = readFileSync(String(config.clusters[0].cluster["certificate-authority"]));
  const server = await recordExchanges(file, async ({ asked, type, sent }, authorization) => {
    const [method, path = ""] = asked.split(" ");
    const content = type ?? "application/json";
    const headers = { authorization, "content-type": content, accept: "application/json" };
    // A field that it does not know is an error.
    const strict = method === "POST" || method === "PATCH" || method === "PUT";
    const query = `${path.includes("?") ? "&" : "?"}fieldValidation=Strict`;
    const url = `${cluster.server}${path}${strict ? query : ""}`;
    const toServer = request(url, { method, ca, headers });
    toServer.end(sent === undefined ? undefined : JSON.stringify(sent));
    const [response] = (await once(toServer, "response")) as [IncomingMessage];
    return { status: response.statusCode ?? 0, body: await text(response) };
  });
  const kubeconfig = join(cluster.dir, "recorded.kubeconfig");
  const { token } = config.users[0].user;
  const write = (given: string): void => {
    config.clusters[0].cluster = { server: server.url, "insecure-skip-tls-verify": true };
    config.users[0].user.token = given;
    writeFileSync(kubeconfig, JSON.stringify(config));
  };
  write(token);
  const side: KubernetesSide = {
    engine: (address = door) =>
      createKubernetesEngine({ config: { address, namespace: null }, project, kubeconfig }),
    kubectl: (...args) => cluster.kubectl(...args),
    apply: (...objects) => apply(cluster, objects.map((each) => JSON.stringify(each)).join("\n")),
    renewToken: (isValid) => write(isValid ? token : "expired"),
    pollMs: 250,
  };
  return {
    ...side,
    begin: (test: string) => server.begin(test),
    end: () => server.end(),
    close: () => server.close(),
  };
}

interface Config {
  readonly clusters: [{ cluster: Record<string, unknown> }];
  readonly users: [{ user: { token: string } }];
}
