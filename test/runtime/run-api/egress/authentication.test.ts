import { once } from "node:events";
import { connect } from "node:net";
import { createRedactor } from "../../../../src/foundation/credentials/redactor.ts";
import { createRunSockets } from "../../../../src/runtime/run-api/run-sockets.ts";
import { fakeAbilities } from "../../../helpers/fake-abilities.ts";
import { hostGateway } from "../../harness/model-host.ts";
import { openSocket, post, socketRecords } from "../support.ts";
import { hello } from "./hellos.ts";
import { connectTo, egressPerTest, egressSide, forward } from "./support.ts";
import { pause } from "../../../helpers/pause.ts";

const { side } = egressPerTest();

test("a run's request to a host gets 407 unless it has the token of the socket's run", async () => {
  const [one, two] = [await side().open("dev-1"), await side().open("dev-2")];
  for (const headers of [
    { "proxy-authorization": "" },
    { "proxy-authorization": `Bearer ${two.token}` },
    { "proxy-authorization": `Basic ${one.token}` },
    { "proxy-authorization": "", authorization: `Bearer ${one.token}` },
  ]) {
    const refused = await connectTo(one, "api.allowed.test:443", headers);
    expect(refused).toMatchObject({ status: 407, headers: { "proxy-authenticate": "Bearer" } });
    expect(await forward(one, "http://api.allowed.test/", { headers })).toMatchObject({
      status: 407,
    });
  }
  expect(side().hosts.lookups).toEqual([]);
  expect(side().attempts).toEqual([]);
});

test("a run's request to a host without a token gets 407 before the body is read", async () => {
  const one = await side().open("dev-1");
  const socket = connect(one.socket);
  socket.write(
    "POST http://api.allowed.test/ HTTP/1.1\r\nhost: a\r\ncontent-length: 99999\r\n\r\n",
  );
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 407 /);
  await once(socket.resume(), "close");
});

test("the end of a run closes its tunnels, and its token opens no new ones", async () => {
  const one = await side().open("dev-1");
  const { socket } = await connectTo(one, "api.allowed.test:22");
  await once(socket, "data");
  const early = connect(one.socket);
  early.write(
    `CONNECT api.allowed.test:22 HTTP/1.1\r\nproxy-authorization: Bearer ${one.token}\r\n`,
  );
  await pause(50, "its first lines are at the scheduler");
  one.dispose();
  await once(socket.resume(), "close");
  early.write("\r\n");
  const [answer] = (await once(early, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 407 /);
  await side().reported(1);
  expect(side().attempts[0]).toMatchObject({ denied: null, bytesIn: 14 });
  await expect
    .poll(() => side().hosts.ssh[0]?.readableEnded ?? side().hosts.ssh[0]?.destroyed)
    .toBe(true);
});

test("a run's request to a host waits until the scheduler has started", async () => {
  const problems: string[] = [];
  const sockets = createRunSockets({
    records: socketRecords(),
    redactor: createRedactor(),
    onProblem: (message) => problems.push(message),
  });
  const base = (await side().open("dev-9")).dir;
  const one = await openSocket({ sockets, base: base.replace(/\/[^/]+$/, "") }, "dev-1");
  const asked = [connectTo(one, "api.allowed.test:22"), forward(one, "http://other.test/")];
  await post(one, "lock");
  sockets.serve({ runApi: fakeAbilities(), models: hostGateway, egress: side().egress });
  const [tunnel, request] = await Promise.all(asked);
  expect([tunnel?.status, request?.status]).toEqual([200, 403]);
  await sockets.close();
  expect(problems).toEqual([]);
});

test("a tunnel into which a secret can't be inserted is closed, and the reason is logged", async () => {
  const own = await egressSide({ intercept: () => Promise.reject(new Error("no certificate")) });
  const bindings = [{ sentinel: "al-sentinel", secret: "s3cret", hosts: ["api.allowed.test"] }];
  own.allow(["api.allowed.test"], { bindings });
  const { socket } = await connectTo(await own.open("dev-1"), "api.allowed.test:443");
  socket.write(hello());
  await once(socket.resume(), "close");
  await expect.poll(() => own.problems).toEqual(["dev-1: api.allowed.test: no certificate"]);
  await own.close();
});

test("a run's request to a host gets 500 after an internal error, which is logged", async () => {
  const own = await egressSide({ policy: () => Promise.reject(new Error("broken store")) });
  const one = await own.open("dev-1");
  expect(await connectTo(one, "api.allowed.test:443")).toMatchObject({ status: 500 });
  expect(await forward(one, "http://api.allowed.test/")).toMatchObject({ status: 500 });
  expect(own.problems).toHaveLength(2);
  expect(own.problems[0]).toBe("dev-1: api.allowed.test: broken store");
  await own.close();
});
