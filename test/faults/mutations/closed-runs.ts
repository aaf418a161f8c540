import type { Mutation } from "../mutation.ts";

const hostUser = ["test/runtime/runners/host-user/closed-network.test.ts"];
const usedUp = ["test/runtime/runners/host-user/used-up.test.ts"];
const tunnels = ["test/runtime/harness/bridge/tunnels.test.ts"];
const inRun = ["test/runtime/harness/closed-network.test.ts"];

/** What leaves a closed run no way but its bridge, at the run's own side. */
export const closedRuns: readonly Mutation[] = [
  {
    defence: "a run whose network has to be closed does not start with an open one",
    file: "src/runtime/runners/host-user/isolation.ts",
    find: 'network === "closed" && !isClosed',
    replace: 'network === "closed" && isClosed',
    tests: hostUser,
    only: "does not start where",
  },
  {
    defence: "namespaces, descriptors or time that are used up open no run",
    file: "src/runtime/runners/host-user/probe-isolation.ts",
    find: "isPassing: answer === undefined && !isTurnedOff(args)",
    replace: "isPassing: answer === undefined && isTurnedOff([])",
    tests: usedUp,
    only: "namespaces are used up",
  },
  {
    defence: "a run is isolated as an earlier one of its user was, or does not start",
    file: "src/runtime/runners/host-user/isolation.ts",
    find: "return mustIsolate && lost !== null",
    replace: "return !mustIsolate && lost !== null",
    tests: usedUp,
    only: "refuses an isolation",
  },
  {
    defence: "a run can't use up the namespaces of its user",
    file: "src/runtime/runners/host-user/isolation.ts",
    find: "do echo 64 >",
    replace: "do echo 640 >",
    tests: usedUp,
    only: "can't be what a run",
  },
  {
    defence: "a closed run has no network of the machine",
    file: "src/runtime/runners/host-user/isolation.ts",
    find: '["--net", "--mount"]',
    replace: '["--mount"]',
    tests: hostUser,
    only: "and no other",
  },
  {
    defence: "services of the machine resolve no names for a closed run, and start nothing for it",
    file: "src/runtime/runners/host-user/closed-network.ts",
    find: "if [ -d /run ]; then",
    replace: "if [ -d /run/none ]; then",
    tests: hostUser,
    only: "no socket of the machine",
  },
  {
    defence: "a closed run does not see the processes outside, into whose memory it could write",
    file: "src/runtime/runners/host-user/isolation.ts",
    find: '[unshare, ...inner, ...ownPids, "--mount-proc", "--", ...asFirst(program)]',
    replace: '[unshare, ...inner, ...ownPids, "--", ...asFirst(program)]',
    tests: hostUser,
    only: "sees no process",
  },
  {
    defence: "a closed run keeps none of the capabilities that its network was closed with",
    file: "src/runtime/runners/host-user/isolation.ts",
    find: 'return ["--user", `--map-user=${uid}`, `--map-group=${gid}`];',
    replace: 'return ["--user", "--map-root-user", ...(uid === gid ? [] : [])];',
    tests: hostUser,
    only: "user, groups, files and capabilities",
  },
  {
    defence: "no run takes a prewarmed process with another network",
    file: "src/runtime/runners/host-user/worker-pool.ts",
    find: "return `${network} ${user}`;",
    replace: "return user === network ? network : user;",
    tests: ["test/runtime/runners/host-user/worker-pool.test.ts"],
  },
  {
    defence: "the run's proxy serves no one without its key",
    file: "src/runtime/harness/bridge/proxy-key.ts",
    find: "password !== undefined && isSameSecret(password, key)",
    replace: "password !== undefined && key !== password.slice(0, 0)",
    tests: tunnels,
  },
  {
    defence: "no tunnel outlives the bridge",
    file: "src/runtime/harness/bridge/bridge.ts",
    find: "for (const socket of open) socket.destroy();",
    replace: "server.closeAllConnections();",
    tests: tunnels,
    only: "outlive",
  },
  {
    defence: "what may not be sent twice is sent once",
    file: "src/runtime/harness/bridge/pass-request.ts",
    find: "if (hasBody || !repeatable.has(method)) {",
    replace: "if (hasBody && repeatable.has(method)) {",
    tests: ["test/runtime/harness/bridge/proxied-requests.test.ts"],
  },
  {
    defence: "no log has the key of a run's proxy",
    file: "src/foundation/credentials/job-redactor.ts",
    find: "[job.channel.token, bridgeKey(job.channel.token)]",
    replace: "[job.channel.token]",
    tests: inRun,
    built: true,
  },
  {
    defence: "a closed run does not have the passwords of the scheduler's proxies",
    file: "src/runtime/runners/job-network.ts",
    find: "variables: maybeOpen ? variables : {}",
    replace: "variables",
    tests: ["test/runtime/runners/job-network.test.ts"],
  },
];
