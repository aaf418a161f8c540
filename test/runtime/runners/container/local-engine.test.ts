import { remoteEngineProblem } from "../../../../src/runtime/runners/container/engine.ts";

test.each([
  undefined,
  "",
  "unix:///run/user/1000/docker.sock",
  "tcp://localhost:2375",
  "tcp://127.0.0.1:2375",
  "tcp://[::1]:2375",
])("DOCKER_HOST=%j is accepted as an engine on this machine", (host) => {
  expect(remoteEngineProblem(host === undefined ? {} : { DOCKER_HOST: host }, false)).toBeNull();
});

test("a named folder for the sockets of runs makes any engine one of this machine", () => {
  const env = { DOCKER_HOST: "tcp://proxy:2375", AL_SOCKETS: "/var/lib/almanac" };
  expect(remoteEngineProblem(env, false)).toBeNull();
});

test.each([
  "ssh://me@build-1",
  "ssh://build-1:22",
  "tcp://10.0.0.9:2376",
  "https://[fd00::9]:2376",
])(
  "DOCKER_HOST=%s is rejected as an engine on another machine, with the config to write instead",
  (host) => {
    const problem = remoteEngineProblem({ DOCKER_HOST: host }, false);
    expect(problem?.message).toContain(`DOCKER_HOST is ${host}, the engine of another machine`);
    expect(problem?.hint).toMatch(
      /docker swarm init .+ engine = "swarm" and address = .+ under \[cluster\]/,
    );
    expect(remoteEngineProblem({ DOCKER_HOST: host }, true)?.hint).toMatch(/type = "cluster"/);
  },
);
