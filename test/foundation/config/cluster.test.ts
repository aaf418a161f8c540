import {
  agent,
  agentChange,
  project,
  projectChange,
  refusal,
  said,
  usualAgent,
  usualProject,
} from "./samples.ts";

const table = '[cluster]\nengine = "swarm"\naddress = "10.0.0.5:8443"\n';
const inCluster = { projectText: `${usualProject}${table}` };

test("[cluster] of a project fills in all defaults", () =>
  expect(project(table).cluster).toEqual({
    engine: "swarm",
    address: "10.0.0.5:8443",
    listen: "0.0.0.0:8443",
    image: null,
    registry: null,
    leaseSeconds: 90,
    startTimeoutSeconds: 600,
    place: [],
    reserve: { memory: "256m", cpus: 0.1 },
    namespace: null,
    subnet: "10.213.0.0/16",
  }));

test("[cluster] of a project prefers config.toml over the defaults", () => {
  const text = `[cluster]
engine = "kubernetes"
address = "[fd00::5]:8443"
listen = "127.0.0.1:9443"
image = "registry.example.com/team/al-agent:3"
startTimeout = 60
place = ["agents=yes"]
reserveCpus = 0.5
namespace = "agents"
`;
  expect(project(text).cluster).toMatchObject({
    address: "[fd00::5]:8443",
    listen: "127.0.0.1:9443",
    image: "registry.example.com/team/al-agent:3",
    startTimeoutSeconds: 60,
    place: ["agents=yes"],
    reserve: { memory: "256m", cpus: 0.5 },
    namespace: "agents",
  });
});

test.each([
  ['[cluster]\nengine = "swarm"\naddress = "a:0"', 'cluster.address is "a:0"'],
  [`${table}subnet = "10.313.0.0/16"`, 'cluster.subnet is "10.313.0.0/16"'],
  [
    `${table}registry = "https://registry.example.com"`,
    'cluster.registry is "https://registry.example.com"',
  ],
  [
    `${table}place = ["agents=yes"]`,
    'cluster.place has "agents=yes"; expected a constraint of a Swarm, e.g. "node.labels.agents==yes"',
  ],
  [
    '[cluster]\nengine = "kubernetes"\naddress = "a:1"\nplace = ["node.labels.agents==yes"]',
    'cluster.place has "node.labels.agents==yes"; expected a label of Kubernetes\' nodes, e.g. "agents=yes"',
  ],
  [
    '[cluster]\nengine = "docker"\naddress = "a:1"',
    'cluster.engine is "docker"; expected one of "swarm", "kubernetes"; run docker swarm init on its machine, and write "swarm"',
  ],
])("[cluster] of a project refuses %j", (text, message) =>
  expect(refusal(projectChange(text))).toContain(message),
);

test("[cluster] of a project warns of keys without effect", () => {
  const text = `${table}image = "mine:1"\nregistry = "registry.example.com"\nnamespace = "agents"`;
  expect(said(projectChange(text))).toEqual([
    expect.stringContaining("5:12  cluster.registry has no effect beside cluster.image"),
    expect.stringContaining("6:13  cluster.namespace has no effect with the engine swarm"),
  ]);
});

test("an agent without a runtime runs in the project's cluster", () =>
  expect(agent(usualAgent, inCluster).runtime).toEqual({ type: "cluster", runAs: "al-agent" }));

test("an agent of a project with [cluster] may set its runtime to a container on this machine or to the cluster", () => {
  const typed = (type: string) => agent(`${usualAgent}[runtime]\ntype = "${type}"`, inCluster);
  expect(typed("container").runtime.type).toBe("container");
  expect(typed("cluster").runtime.type).toBe("cluster");
});

test("an agent of a project with [cluster] may set runtime.place only in the syntax of the cluster's engine", () => {
  const placed = (rule: string) => `${usualAgent}[runtime]\nplace = ["${rule}"]`;
  expect(agent(placed("node.labels.gpu==yes"), inCluster).runtime.place).toEqual([
    "node.labels.gpu==yes",
  ]);
  expect(refusal(agentChange(placed("gpu=yes"), inCluster))).toContain(
    'agents/dev/config.toml:5:10  runtime.place has "gpu=yes"; expected a constraint of a Swarm',
  );
});

test("an agent on a cluster may set [local].memory, like an agent in a container", () =>
  expect(said(agentChange(`${usualAgent}[local]\nmemory = "1g"`, inCluster))).toEqual([]));

test("an agent of a project without [cluster] can't run in a cluster", () => {
  const text = `${usualAgent}[runtime]\ntype = "cluster"`;
  expect(refusal(agentChange(text))).toContain(
    'agents/dev/config.toml:5:8  runtime.type is "cluster", but config.toml of the project has no [cluster]; add it',
  );
});

test("an agent of a project without [cluster] gets a warning for runtime.place", () => {
  const text = `${usualAgent}[runtime]\nplace = ["node.role==worker"]`;
  expect(said(agentChange(text))).toEqual([
    expect.stringContaining("5:9  runtime.place is for runs in a cluster, and this is a container"),
  ]);
});
