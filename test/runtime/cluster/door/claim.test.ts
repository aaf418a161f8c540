import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { claimAnswerSchema } from "../../../../src/runtime/cluster/remote-run/protocol.ts";
import { post, resource } from "../../run-api/support.ts";
import { ask, channelOf, claim, claimA, claimB, doorSide, expectRun, tokenOf } from "./support.ts";
import { perTest } from "../../../helpers/per-test.ts";

const side = perTest(doorSide, (side) => side.remove());

const key = { "idempotency-key": claimA };

function unlock(name: string, token: string) {
  return ask(side(), "/run/unlock", { name, token, body: { resource }, headers: key });
}

test("a claim is answered with the job and a token, which is valid for all else", async () => {
  const run = await expectRun(side(), "dev-1");
  const { status, body } = await claim(side(), run);
  expect(status).toBe(200);
  const { job, leaseSeconds } = claimAnswerSchema.parse(body);
  expect(job).toMatchObject({ instanceId: "dev-1", channel: { socket: "/run/al/channel.sock" } });
  expect(leaseSeconds).toBe(90);
  const token = job.channel?.token ?? "";
  expect(Buffer.from(token, "base64url")).toHaveLength(32);
  expect(side().now.remote.claims).toEqual([{ instanceId: "dev-1", claim: claimA, node: "n1" }]);
  expect(await unlock(run.name, token)).toMatchObject({ status: 200, body: { ok: true } });
  expect(await unlock(run.name, run.ticket)).toMatchObject({ status: 401 });
});

test("a claim of a second claimer is rejected, and the first keeps its token", async () => {
  const run = await expectRun(side(), "dev-1");
  const token = await tokenOf(side(), run);
  const second = await claim(side(), run, claimB);
  expect(second).toMatchObject({ status: 409, body: { error: "claimed" } });
  expect(side().now.remote.claims).toHaveLength(1);
  expect((await unlock(run.name, token)).status).toBe(200);
});

test("a claim is accepted for one of many concurrent claimers, and no other", async () => {
  const run = await expectRun(side(), "dev-1");
  const ids = Array.from({ length: 8 }, (_, i) =>
    claimA.replace("7d44484", `7d44484${i}`.slice(1)),
  );
  const answers = await Promise.all(ids.map((id) => claim(side(), run, id)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([
    200, 409, 409, 409, 409, 409, 409, 409,
  ]);
  expect(side().now.remote.claims).toHaveLength(1);
});

test("a claim whose answer was lost is answered again, with another token", async () => {
  const run = await expectRun(side(), "dev-1");
  const lost = await tokenOf(side(), run);
  const token = await tokenOf(side(), run);
  expect(token).not.toBe(lost);
  expect((await unlock(run.name, lost)).status).toBe(401);
  expect((await unlock(run.name, token)).status).toBe(200);
});

test("a claim with a forged ticket, another run's, or none is rejected", async () => {
  const [one, two] = [await expectRun(side(), "dev-1"), await expectRun(side(), "dev-2")];
  for (const ticket of ["A".repeat(43), two.ticket, ""]) {
    const refused = await claim(side(), { ...one, ticket });
    expect(refused).toMatchObject({ status: 401, body: { error: "unauthorized" } });
  }
  expect(side().now.remote.claims).toEqual([]);
  expect((await claim(side(), one)).status).toBe(200);
});

test("a claim that is malformed has no effect", async () => {
  const run = await expectRun(side(), "dev-1");
  const asked = { name: run.name, token: run.ticket, body: { claim: "1", node: "n" } };
  expect(await ask(side(), "/remote/claim", asked)).toMatchObject({ status: 400 });
  expect((await claim(side(), run)).status).toBe(200);
});

test("a claim that the scheduler can't answer yet succeeds when repeated", async () => {
  const run = await expectRun(side(), "dev-1");
  const { remote } = side().now;
  const make = remote.claim.bind(remote);
  remote.claim = () => Promise.reject(new Error("the credential is on fire"));
  const refused = await claim(side(), run);
  expect(refused).toMatchObject({ status: 503, body: { error: "unavailable" } });
  expect(JSON.stringify(refused)).not.toContain("fire");
  expect(side().problems).toEqual(["dev-1: the credential is on fire"]);
  remote.claim = make;
  expect((await claim(side(), run)).status).toBe(200);
  expect((await claim(side(), run, claimB)).status).toBe(409);
});

describe("after a restart", () => {
  test("a run's token still works after a restart, and no other process can claim the run", async () => {
    const run = await expectRun(side(), "dev-1");
    const token = await tokenOf(side(), run);
    const restored = await side().restart(["dev-1"]);
    expect([...restored.keys()]).toEqual(["dev-1"]);
    expect(await unlock(run.name, token)).toMatchObject({ status: 503 });
    side().serve();
    expect(await unlock(run.name, token)).toMatchObject({ status: 200 });
    expect((await claim(side(), run, claimB)).status).toBe(409);
    expect((await unlock(run.name, await tokenOf(side(), run))).status).toBe(200);
  });

  test("an unclaimed ticket is still valid", async () => {
    const run = await expectRun(side(), "dev-1");
    await side().restart(["dev-1"]);
    side().serve();
    expect((await claim(side(), run)).status).toBe(200);
  });

  test("a run that is no longer expected learns that it has ended", async () => {
    const run = await expectRun(side(), "dev-1");
    const token = await tokenOf(side(), run);
    await side().restart([]);
    side().serve();
    expect(await unlock(run.name, token)).toMatchObject({ status: 401 });
    expect(await claim(side(), run)).toMatchObject({ status: 401 });
    await expect.poll(() => side().store.remoteRuns.all()).toEqual([]);
  });
});

test("ticket and token are removed from texts while the run lives, and stored only as hashes", async () => {
  const run = await expectRun(side(), "dev-1");
  const token = await tokenOf(side(), run);
  const secrets = [run.ticket, token];
  const { redact } = side().now.redactor;
  expect(secrets.map((secret) => redact(`x ${secret} y`))).toEqual(
    secrets.map(() => "x [redacted] y"),
  );
  for (const file of readdirSync(join(side().dir, ".al"), { recursive: true }) as string[]) {
    if (!file.includes("state.db")) continue;
    const bytes = readFileSync(join(side().dir, ".al", file)).toString("latin1");
    for (const secret of secrets) expect(bytes).not.toContain(secret);
  }
  run.runSocket[Symbol.dispose]();
  expect(secrets.map((one) => redact(one))).toEqual(secrets);
  expect(side().problems).toEqual([]);
});

test("ticket and token are invalid once the run has ended, on old connections and on new ones", async () => {
  const run = await expectRun(side(), "dev-1");
  const token = await tokenOf(side(), run);
  using channel = await channelOf(side(), run.name);
  const through = { socket: channel.path, token };
  expect((await post(through, "unlock")).status).toBe(200);
  run.runSocket[Symbol.dispose]();
  expect((await post(through, "unlock")).status).toBe(401);
  expect((await unlock(run.name, token)).status).toBe(401);
  expect((await claim(side(), run)).status).toBe(401);
  await expect.poll(() => side().store.remoteRuns.all()).toEqual([]);
});
