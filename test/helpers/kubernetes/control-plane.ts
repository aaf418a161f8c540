import { execFile } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { writeClusterConfig } from "../../runtime/cluster/kubernetes/kubeconfig.ts";
import { startProcess, type OwnProcess } from "../own-process.ts";
import { program } from "./programs.ts";

const run = promisify(execFile);

export interface ControlPlaneOptions {
  readonly dir: string;
  /** This machine's address for the nodes. */
  readonly host: string;
  /** Addresses of Services. */
  readonly serviceRange: string;
  /** Names of nodes. */
  readonly nodes: readonly string[];
}

/** After so long a node that says nothing is not ready. */
const graceSeconds = 6;

/** etcd, the API server, its controllers and its scheduler as processes of this machine. */
export async function startControlPlane({ dir, host, serviceRange, nodes }: ControlPlaneOptions) {
  mkdirSync(dir, { recursive: true });
  const server = `https://${host}:6443`;
  const key = join(dir, "accounts.pem");
  const certificate = join(dir, "pki/apiserver.crt");
  const configs = writeTokens({ dir, server, certificate, nodes });
  writeKey(key);
  const etcd = startProcess("etcd", dir, [
    "etcd",
    "--data-dir",
    join(dir, "etcd"),
    "--log-level",
    "error",
    "--listen-client-urls",
    `http://${host}:2379`,
    "--advertise-client-urls",
    `http://${host}:2379`,
    "--listen-peer-urls",
    `http://${host}:2380`,
  ]);
  const startApi = () =>
    startProcess("kube-apiserver", dir, [
      program("kube-apiserver"),
      `--etcd-servers=http://${host}:2379`,
      `--advertise-address=${host}`,
      `--bind-address=${host}`,
      `--cert-dir=${join(dir, "pki")}`,
      `--token-auth-file=${join(dir, "tokens")}`,
      "--authorization-mode=Node,RBAC",
      "--enable-admission-plugins=NodeRestriction",
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${key}`,
      `--service-account-signing-key-file=${key}`,
      `--service-cluster-ip-range=${serviceRange}`,
      "--default-not-ready-toleration-seconds=15",
      "--default-unreachable-toleration-seconds=15",
      "--kubelet-preferred-address-types=InternalIP",
      "--profiling=false",
    ]);
  const admin = configs("admin");
  const kubectl = async (...args: readonly string[]): Promise<string> => {
    const { stdout } = await run(program("kubectl"), ["--kubeconfig", admin, ...args], {
      maxBuffer: 2 ** 26,
    });
    return stdout;
  };
  let api: OwnProcess = startApi();
  const answers = () =>
    vi.waitFor(() => kubectl("get", "--raw", "/readyz"), { timeout: 90_000, interval: 200 });
  await Promise.race([answers(), api.ended, etcd.ended]);
  const common = [`--kubeconfig=${admin}`, "--leader-elect=false", "--secure-port=0"];
  const scheduler = startProcess("kube-scheduler", dir, [program("kube-scheduler"), ...common]);
  const controllers = startProcess("kube-controller-manager", dir, [
    program("kube-controller-manager"),
    ...common,
    `--service-account-private-key-file=${key}`,
    `--root-ca-file=${certificate}`,
    `--node-monitor-grace-period=${graceSeconds}s`,
    "--node-monitor-period=1s",
    "--node-startup-grace-period=30s",
  ]);
  return {
    server,
    /** File of the kubeconfig of a user: `admin`, `almanac`, or a node. */
    kubeconfig: configs,
    /** As the administrator. Returns what it printed. */
    kubectl,
    api: {
      kill: () => api.kill(),
      start: async () => {
        api = startApi();
        await answers();
      },
    },
    stop: async () => {
      await Promise.all([controllers, scheduler, api].map((each) => each.kill()));
      await etcd.kill();
    },
  };
}

function writeKey(file: string): void {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  writeFileSync(file, privateKey.export({ type: "pkcs1", format: "pem" }), { mode: 0o600 });
}

interface Tokens {
  readonly dir: string;
  readonly server: string;
  readonly certificate: string;
  readonly nodes: readonly string[];
}

/** Users with tokens; returns the file of a user's kubeconfig. */
function writeTokens({ dir, server, certificate, nodes }: Tokens): (user: string) => string {
  const users = ["admin", "almanac", ...nodes];
  const fileOf = (user: string) => join(dir, `${user}.kubeconfig`);
  const lines = users.map((user) => {
    const token = randomBytes(16).toString("hex");
    writeClusterConfig(fileOf(user), { server, "certificate-authority": certificate }, token);
    const [name, group] = nodes.includes(user)
      ? [`system:node:${user}`, "system:nodes"]
      : [user, user === "admin" ? "system:masters" : "people"];
    return `${token},${name},${user},"${group}"\n`;
  });
  writeFileSync(join(dir, "tokens"), lines.join(""), { mode: 0o600 });
  return fileOf;
}
